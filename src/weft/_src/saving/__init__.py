"""Files that keep what a program has made: checkpoints, SavedModels, safetensors."""
