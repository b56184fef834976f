"""List one algorithm per pane, so that a picture that several algorithms share is compared only once."""

ONE_OF_A_PANE = (
    "kmeans", "pe-means", "hdpe-means", "fastlloyd", "choose-k", "eugkm", "continual", "dp-em", "dpm", "privtree",
    "dp-dbscan", "em-mc", "lsh-splits", "mst-kmeans", "nsm", "stemmer-kaplan", "stemmer-kaplan-local", "dist-dp",
)  # fmt: skip
