"use strict";
// Draws the figures, whose data the page holds as JSON, and the slices of volumes that sliders move.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const PRINT_WIDTH = 680; // CSS pixels of an A4 page between its margins
  const FONT = getComputedStyle(document.body).fontFamily;
  const CONFIG = { displayModeBar: false, responsive: false, doubleClick: "reset", showTips: false };
  const narrow = () => window.matchMedia("(max-width: 560px)").matches;
  // On a touch screen a drag scrolls the page.
  const DRAG = window.matchMedia("(pointer: coarse)").matches ? false : "zoom";

  const axis = (own) => {
    const title = (own && own.title) || {};
    return {
      gridcolor: "#e4e7ea", zerolinecolor: "#c9ced3", linecolor: "#9aa3ab", ticks: "outside", ticklen: 4,
      tickcolor: "#9aa3ab", automargin: true, separatethousands: true, exponentformat: "none", ...own,
      title: { standoff: 8, ...title },
    };
  };

  const layoutOf = (own, width) => {
    const layout = {
      width, margin: { l: 64, r: 18, t: 12, b: 48 }, paper_bgcolor: "#fff", plot_bgcolor: "#fff",
      font: { family: FONT, size: narrow() ? 11 : 12, color: "#22272e" }, separators: ".\u202f", dragmode: DRAG,
      hoverlabel: { font: { family: FONT, size: 12 } }, ...own,
    };
    for (const key of Object.keys(layout)) if (/^[xy]axis\d*$/.test(key)) layout[key] = axis(layout[key]);
    return layout;
  };

  const bytesOf = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

  // Few traces as lines whose peaks are filled: codes 1 to 255, of which 255 is the distance of two traces.
  const wiggles = (trace) => {
    const { x, y0, dy, codes: { shape: [rows, columns], bytes } } = trace, all = bytesOf(bytes);
    const steps = x.slice(1).map((place, n) => Math.abs(place - x[n])).sort((a, b) => a - b);
    const step = steps.length ? steps[steps.length >> 1] : 1;
    const lines = { x: [], y: [] }, peaks = { x: [], y: [] };
    for (let n = 0; n < columns; n++) {
      peaks.x.push(x[n]);
      peaks.y.push(y0);
      for (let row = 0; row < rows; row++) {
        const part = (all[row * columns + n] - 128) / 127 * step, time = y0 + row * dy;
        lines.x.push(x[n] + part);
        lines.y.push(time);
        peaks.x.push(x[n] + Math.max(0, part));
        peaks.y.push(time);
      }
      peaks.x.push(x[n], null);
      peaks.y.push(y0 + (rows - 1) * dy, null);
      lines.x.push(null);
      lines.y.push(null);
    }
    const shared = { type: "scatter", mode: "lines", hoverinfo: "skip", cliponaxis: true };
    return [
      { ...shared, ...peaks, fill: "toself", fillcolor: "#22272e", line: { width: 0 } },
      { ...shared, ...lines, line: { width: 0.7, color: "#22272e" } },
    ];
  };

  // A trace with its codes as rows of numbers, those from low to high as values with gaps.
  const decoded = (trace) => {
    if (!trace.codes) return trace;
    const { codes, ...rest } = trace;
    const [rows, columns] = codes.shape, all = bytesOf(codes.bytes);
    if (codes.low !== undefined) {
      const step = (codes.high - codes.low) / 254;
      const z = Array.from({ length: rows }, (_, row) => Array.from(all.subarray(row * columns, (row + 1) * columns),
        (code) => (code === 0 ? null : codes.low + (code - 1) * step)));
      return { ...rest, z, ...(codes.log ? { customdata: z.map((row) => row.map((value) => 10 ** value)) } : {}) };
    }
    return { ...rest, z: Array.from({ length: rows }, (_, row) => all.subarray(row * columns, (row + 1) * columns)) };
  };

  // A slider over labels; change(number) is called when it moves.
  const slider = (box, name, labels, chosen, change) => {
    const label = box.appendChild(document.createElement("label"));
    label.append(name);
    const input = label.appendChild(document.createElement("input"));
    Object.assign(input, { type: "range", min: 0, max: labels.length - 1, step: 1, name, value: chosen });
    const output = label.appendChild(document.createElement("output"));
    output.textContent = labels[chosen];
    input.addEventListener("input", () => {
      output.textContent = labels[Number(input.value)];
      change(Number(input.value));
    });
  };

  // A list of names of which one is chosen; change(name) is called when another is.
  const choice = (box, name, names, change) => {
    const label = box.appendChild(document.createElement("label"));
    label.className = "choice";
    label.append(name);
    const input = label.appendChild(document.createElement("select"));
    input.name = name;
    names.forEach((one) => input.add(new Option(one)));
    input.addEventListener("change", () => change(input.value));
  };

  // Plots side by side, in as many columns as there is room for.
  const drawParts = (box, figure) => {
    const plot = box.querySelector(".plot");
    plot.classList.add("beside");
    const places = figure.parts.map(() => plot.appendChild(document.createElement("div")));
    const traces = figure.parts.map((part) => part.data.map(decoded));
    const labels = figure.choice ? figure.choice.labels : [];
    let chosen = labels.length - 1, waiting = false;
    const draw = (width) => {
      const room = width || plot.clientWidth;
      // On paper two fit beside each other.
      const least = width ? Math.min(figure.least, width / 2) : figure.least;
      const columns = Math.max(1, Math.min(figure.parts.length, Math.floor(room / least)));
      const each = Math.floor(room / columns);
      plot.style.gridTemplateColumns = `repeat(${columns}, ${each}px)`;
      return Promise.all(figure.parts.map((part, n) => {
        const shown = figure.choice ? traces[n].filter((trace) => trace.meta.choice === chosen) : traces[n];
        const height = Math.round((each - 130) * part.ratio) + 74;
        const layout = { ...part.layout, height, showlegend: false };
        return Plotly.react(places[n], shown, layoutOf(layout, each), CONFIG);
      }));
    };
    if (labels.length > 1) slider(box.querySelector(".controls"), figure.choice.name, labels, chosen, (number) => {
      chosen = number;
      if (!waiting) requestAnimationFrame(() => { waiting = false; draw(); });
      waiting = true;
    });
    return draw;
  };

  const drawFigure = (box, figure) => {
    if (figure.parts) return drawParts(box, figure);
    const plot = box.querySelector(".plot");
    const traces = figure.data.flatMap((trace) => (trace.type === "wiggles" ? wiggles(trace) : [decoded(trace)]));
    return (width) => {
      const wide = width || plot.clientWidth;
      const own = { ...figure.layout };
      if (figure.aspect) own.height = Math.min(440, Math.max(120, (wide - 82) * figure.aspect)) + 60;
      return Plotly.react(plot, traces, layoutOf(own, wide), CONFIG);
    };
  };

  // Slices ------------------------------------------------------------------------------------------------------------

  const AXES = ["x", "y", "z"];
  const DEPTH = { name: "depth", label: "depth (m)", unit: "m", digits: 1 }; // the vertical axis, if a panel names no other
  const PLANES = [
    { across: 0, along: 2, fixed: 1 },
    { across: 1, along: 2, fixed: 0 },
    { across: 0, along: 1, fixed: 2 },
  ];
  const BELOW = [[127, 97, 154], [123, 121, 170], [113, 143, 175], [105, 162, 176], [98, 181, 174], [105, 199, 166],
    [138, 216, 147], [185, 228, 119], [236, 236, 94]].map((c, n, all) => [n / (all.length - 1), `rgb(${c.join(",")})`]);
  // White to black through transparent, as in the pictures: where the image is weak the velocity shows.
  const ABOVE = Array.from({ length: 41 }, (_, n) => {
    const level = n / 20 - 1, tone = level > 0 ? 0 : 255;
    return [n / 40, `rgba(${tone},${tone},${tone},${(0.92 * Math.abs(level) ** 0.7).toFixed(3)})`];
  });
  const scaleOf = (colours) => colours.map((colour, n) => [n / (colours.length - 1), colour]);
  // As in the pictures (pictures/colours.py): amplitudes grey, or red through white to blue; a property viridis.
  const SIGNED = {
    grey: scaleOf(["#ffffff", "#000000"]),
    "red-white-blue": scaleOf(["#67001f", "#b2182b", "#d6604d", "#f4a582", "#fddbc7", "#f7f7f7", "#d1e5f0", "#92c5de",
      "#4393c3", "#2166ac", "#053061"]),
  };
  const PROPERTY = scaleOf(["#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725"]);

  const withUnit = (value, unit, digits) => {
    const power = 10 ** digits, options = { maximumFractionDigits: digits };
    const text = (Math.round(value * power) / power).toLocaleString("en-US", options);
    return `${text.replace(/,/g, "\u202f").replace("-", "\u2212")} ${unit}`;
  };

  const drawVolume = (box, volume) => {
    const layers = [];
    for (const name of ["property", "image"]) {
      const shown = volume[name];
      if (shown) layers.push({ ...shown, name, all: bytesOf(shown.codes) });
    }
    const main = layers[layers.length - 1];
    const flat = main.shape[1] === 1;
    const planes = flat ? PLANES.slice(0, 1) : PLANES;
    const at = main.shape.map((n) => n >> 1);
    const vertical = volume.vertical || DEPTH;
    const names = ["x", "y", vertical.name], labels = ["x (m)", "y (m)", vertical.label];
    const place = (a) => main.first[a] + at[a] * main.step[a];
    const told = (a) => (a === 2 ? withUnit(place(a), vertical.unit, vertical.digits) : withUnit(place(a), "m", 1));
    const slices = box.querySelector(".slices");
    const plots = planes.map(() => slices.appendChild(document.createElement("div")));

    // The cells of a layer nearest to the plane, as rows along the vertical axis of the drawing.
    const rows = (layer, plane) => {
      const { shape, all } = layer;
      const near = Math.round((place(plane.fixed) - layer.first[plane.fixed]) / layer.step[plane.fixed]);
      const index = Math.min(shape[plane.fixed] - 1, Math.max(0, near || 0));
      const stride = [shape[1] * shape[2], shape[2], 1];
      const begin = index * stride[plane.fixed];
      return Array.from({ length: shape[plane.along] }, (_, row) => {
        const line = new Uint8Array(shape[plane.across]);
        for (let n = 0; n < line.length; n++) line[n] = all[begin + row * stride[plane.along] + n * stride[plane.across]];
        return line;
      });
    };

    // Shown are the image, the property, or the one over the other; of an image over a property black is positive.
    const both = layers.length > 1;
    let shown = main.name, colours = "grey";
    const over = () => shown === "both";
    const scale = (layer) => (layer.name === "image" ? (over() ? ABOVE : SIGNED[colours]) : over() ? BELOW : PROPERTY);
    const traces = (plane) => layers.filter((layer) => over() || layer.name === shown).map((layer) => ({
      type: "heatmap", z: rows(layer, plane), hoverinfo: "skip", showscale: false,
      x0: layer.first[plane.across], dx: layer.step[plane.across], y0: layer.first[plane.along], dy: layer.step[plane.along],
      zmin: layer.name === "image" ? 1 : 0, zmax: 255, zsmooth: layer.name === "image" ? "best" : false,
      colorscale: scale(layer),
    }));

    const shapes = (plane) => flat ? [] : [["x", plane.across], ["y", plane.along]].flatMap(([name, a]) =>
      [["#00000080", 2.4, "solid"], ["#ffffff", 1, "dash"]].map(([color, width, dash]) => ({
        type: "line", line: { color, width, dash },
        ...(name === "x" ? { x0: place(a), x1: place(a), yref: "paper", y0: 0, y1: 1 }
          : { y0: place(a), y1: place(a), xref: "paper", x0: 0, x1: 1 }),
      })));

    // Drawn lengths, m: a vertical axis in another unit has no true aspect, but a share of the widest section.
    const extent = (a) => volume.span[a][1] - volume.span[a][0];
    const length = (a) => (a === 2 && vertical.ratio ? vertical.ratio * Math.max(extent(0), extent(1)) : extent(a));
    const LEFT = 62, RIGHT = 14, TOP = 26, BOTTOM = 44, TALLEST = 560, LOWEST = 110;

    // Sections side by side where there is room, else below each other; one scale, true aspect where it is legible.
    const arrange = (width) => {
      const across = planes.map((plane) => length(plane.across)), down = planes.map((plane) => length(plane.along));
      const beside = !flat && width >= 640;
      const sides = LEFT + RIGHT;
      const total = beside ? across[0] + across[1] : Math.max(...across);
      let scale = (width - sides * (beside ? 2 : 1)) / total;
      scale = Math.min(scale, TALLEST / Math.max(...down));
      const stretched = down.map((long) => Math.max(1, LOWEST / (long * scale)));
      const sizes = planes.map((_, n) => ({
        width: across[n] * scale + sides, height: down[n] * scale * stretched[n] + TOP + BOTTOM,
      }));
      let top = 0;
      return sizes.map((size, n) => {
        const left = beside && n === 1 ? sizes[0].width : 0;
        const own = { ...size, left, top, stretched: stretched[n] };
        if (beside && n === 0) return own;
        top += beside && n === 1 ? Math.max(sizes[0].height, sizes[1].height) : size.height;
        return own;
      });
    };

    const layout = (plane, size) => layoutOf({
      height: size.height, margin: { l: LEFT, r: RIGHT, t: TOP, b: BOTTOM }, shapes: shapes(plane), dragmode: false,
      xaxis: { range: volume.span[plane.across], title: { text: labels[plane.across] }, automargin: false, showgrid: false,
        zeroline: false, nticks: Math.max(2, Math.floor(size.width / 90)), fixedrange: true },
      yaxis: { range: plane.along === 2 ? [...volume.span[2]].reverse() : volume.span[1], title: { text: labels[plane.along] },
        automargin: false, showgrid: false, zeroline: false, nticks: Math.max(2, Math.floor(size.height / 50)),
        fixedrange: true },
      annotations: flat ? [] : [{ text: `${names[plane.fixed]} = ${told(plane.fixed)}`,
        xref: "paper", yref: "paper", x: 0, y: 1, xanchor: "left", yanchor: "bottom", showarrow: false, yshift: 3 }],
    }, size.width);

    const where = box.querySelector(".where");
    const draw = (width) => {
      const sizes = arrange(width || slices.clientWidth);
      slices.style.height = `${Math.max(...sizes.map((size) => size.top + size.height))}px`;
      const exaggerated = Math.max(...sizes.map((size, n) => (planes[n].along === 2 && vertical.ratio ? 1 : size.stretched)));
      where.textContent = (flat ? "" : `Slices through x = ${told(0)}, y = ${told(1)}, ${vertical.name} ${told(2)}.`)
        + (exaggerated > 1.02 ? ` Vertical axis stretched ${exaggerated.toFixed(1)} times.` : "");
      return Promise.all(planes.map((plane, n) => {
        Object.assign(plots[n].style, { left: `${sizes[n].left}px`, top: `${sizes[n].top}px` });
        return Plotly.react(plots[n], traces(plane), layout(plane, sizes[n]), CONFIG);
      }));
    };

    const scales = () => layers.forEach((layer) => {
      const bar = box.querySelector(`.scale[data-layer=${layer.name}]`);
      const stops = (over() && layer === main ? SIGNED.grey : scale(layer)).map(([at, colour]) => `${colour} ${100 * at}%`);
      bar.hidden = !over() && layer.name !== shown;
      bar.querySelector("i").style.background = `linear-gradient(90deg, ${stops.join(", ")})`;
    });
    const controls = box.querySelector(".controls");
    if (both) {
      const names = { image: "image", [layers[0].label]: "property", [`image over ${layers[0].label}`]: "both" };
      choice(controls, "show", Object.keys(names), (name) => { shown = names[name]; scales(); draw(); });
    }
    if (main.name === "image") choice(controls, "colours", Object.keys(SIGNED), (name) => { colours = name; scales(); draw(); });
    scales();

    const inputs = [];
    const move = (a, index) => {
      at[a] = Math.min(main.shape[a] - 1, Math.max(0, index));
      if (inputs[a]) {
        inputs[a].value = at[a];
        inputs[a].nextElementSibling.textContent = told(a);
      }
    };
    if (!flat) {
      let waiting = false;
      AXES.forEach((name, a) => {
        const label = box.querySelector(".controls").appendChild(document.createElement("label"));
        label.append(names[a]);
        const input = label.appendChild(document.createElement("input"));
        Object.assign(input, { type: "range", min: 0, max: main.shape[a] - 1, step: 1, name });
        label.appendChild(document.createElement("output"));
        inputs[a] = input;
        move(a, at[a]);
        input.addEventListener("input", () => {
          move(a, Number(input.value));
          if (!waiting) requestAnimationFrame(() => { waiting = false; draw(); });
          waiting = true;
        });
      });
    }
    return (width) => {
      const done = draw(width);
      // A click on one slice moves the others there.
      if (!flat) plots.forEach((plot, n) => {
        plot.onclick = (event) => {
          const { xaxis, yaxis } = plot._fullLayout, frame = plot.getBoundingClientRect();
          const clicked = [xaxis.p2d(event.clientX - frame.left - xaxis._offset), yaxis.p2d(event.clientY - frame.top - yaxis._offset)];
          [planes[n].across, planes[n].along].forEach((a, k) => move(a, Math.round((clicked[k] - main.first[a]) / main.step[a])));
          draw();
        };
      });
      return done;
    };
  };

  // -------------------------------------------------------------------------------------------------------------------

  const figures = Object.fromEntries(data.figures.map((figure) => [figure.name, figure]));
  const draws = [];
  for (const box of document.querySelectorAll("[data-figure]")) draws.push(drawFigure(box, figures[box.dataset.figure]));
  document.querySelectorAll("[data-volume]").forEach((box, n) => draws.unshift(drawVolume(box, data.volumes[n])));

  const all = (width) => Promise.all(draws.map((draw) => draw(width)));
  all().then(() => { document.documentElement.dataset.drawn = "yes"; });
  let width = window.innerWidth, timer = 0;
  window.addEventListener("resize", () => {
    if (window.innerWidth === width) return; // a mobile browser's address bar comes and goes
    width = window.innerWidth;
    clearTimeout(timer);
    timer = setTimeout(() => all(), 120);
  });
  window.addEventListener("beforeprint", () => all(PRINT_WIDTH));
  window.addEventListener("afterprint", () => all());
})();
