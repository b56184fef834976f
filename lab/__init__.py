"""What nobody needs who uses dpviz: experiments, the site, the wire; dpviz and its pages import nothing of it."""
