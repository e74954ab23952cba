"""What runs before typer is imported: hook targets, status lines and the readout."""
