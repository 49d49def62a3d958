"""What a Python file means: names, the flow of strings, what a receiver is."""
