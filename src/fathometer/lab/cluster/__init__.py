"""A cluster is made on one machine: nodes in namespaces of Linux, with links of a chosen rate between them."""
