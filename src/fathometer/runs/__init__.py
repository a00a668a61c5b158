"""Whatever an application's run needs is here once: the interface of applications, models in time with their states,
tasks that are resumed and shared, exact sums."""
