"""One algorithm of every pane: what is drawn alike is compared once, not for all of them."""

ONE_OF_A_PANE = (
    "kmeans", "pe-means", "hdpe-means", "fastlloyd", "eugkm", "continual", "dp-em", "dpm", "privtree", "dp-dbscan",
    "em-mc", "lsh-splits", "nsm", "stemmer-kaplan", "stemmer-kaplan-local", "dist-dp",
)  # fmt: skip
