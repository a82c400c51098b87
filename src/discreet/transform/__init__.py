"""How values change: recodings of classes, their loss, suppression, and the recipe that can be applied again."""
