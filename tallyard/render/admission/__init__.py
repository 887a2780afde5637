"""What the API server does with what people submit: it stamps it, or refuses it with a reason."""
