"""Commands that the command line of dpviz finds as entry points, or beside it in a clone."""
