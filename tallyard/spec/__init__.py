"""What the spec means: YAML in, a frozen platform or every problem out."""
