"""One YAML file becomes a GPU platform on Kubernetes."""
