"""One algorithm of every pane: what is drawn alike is compared once, not for all 23."""

ONE_OF_A_PANE = (
    "kmeans", "pe-means", "hdpe-means", "fastlloyd", "eugkm", "dp-em", "dpm", "privtree", "em-mc", "lsh-splits", "nsm",
    "stemmer-kaplan", "stemmer-kaplan-local", "dist-dp",
)  # fmt: skip
