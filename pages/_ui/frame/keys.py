"""The key of every widget, box and component, by page. Other modules take their keys from here.

Streamlit stores a widget's value under its key, `controls` ties a word of an address to the key, style sheets find a
box by `st-key-` and the key, and tests find elements by the key itself. Elements of one kind share a pattern.
"""

from __future__ import annotations


class Keys:
    """The keys of one kind: a pattern with a gap, written {}, for each value that distinguishes them."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern

    def __call__(self, *values: object) -> str:
        """Return one key.

        Raises
        ------
        TypeError
            If there are more or fewer values than gaps.
        """
        if len(values) != self.pattern.count("{}"):
            raise TypeError(f"{self.pattern} has {self.pattern.count('{}')} gaps; got {len(values)} values.")
        return self.pattern.format(*values)


# Every page
STRIP, SHARE, MESSAGES, CANCEL = "strip", "share", "messages", "cancel"
FORM, FORM_MORE, FORM_TOP, FORM_FIELDS, FORM_DRAG = "form", "form_more", "form_top", "form_fields", "form_drag"
FORM_DETAILS, FORM_ALGORITHMS = "form_details", "form_algorithms"
MISHAP, BAR, TABS = "mishap", "bar", "tabs"
DRAWER_BOX, DRAWER, ADDRESS = "drawer", Keys("{}_drawer"), Keys("{}_address")
RIBBON, RIBBON_ALL, RIBBON_RESET = "ribbon", "ribbon_all", "ribbon_reset"
# The gap is the name of a question about a private file
SPEND, NOT_YET, UNAUDITED = Keys("{}_spend"), Keys("{}_not_yet"), Keys("{}_unaudited")

# A player and its figures; the gap is the player's name
PLAYER, TRANSPORT, FIGURES = Keys("{}_player"), Keys("{}_transport"), Keys("{}_figures")
SCENE, PLANE_COLUMN, SIDE_COLUMN, SWIPE = Keys("{}_scene"), Keys("{}_planecol"), Keys("{}_sidecol"), Keys("{}_swipe")
RELEASES = Keys("{}_releases")
PANEL = Keys("{}_{}_{}")  # the gaps are the component that draws the panel, the panel's name, and its number

# Parameters of an algorithm; the gaps are its slug and the parameter's name
PRESET, PARAM = Keys("preset_{}"), Keys("param_{}_{}")
BUDGET_IN, BUDGET, IN_UNITS = "budget_in", Keys("budget_{}"), Keys("{}_in_units_of_{}")

# Start
HOME_SCREEN, HOME_STORY = "home_screen", "home_story"

# Explore
EXPLORE_DATA, EXPLORE_ALGORITHM, PRIVATE_ALGORITHM = "explore_data", "explore_algorithm", "private_algorithm"
EXPLORE_SEED, EXPLORE_EXACT, EXPLORE_HIDDEN = "explore_seed", "explore_exact", "explore_hidden"
EXPLORE_DRAG = "explore_drag"
EXPLORE_RUN, EXPLORE_FIRST, VERDICT, ENDS, QUALITY = "explore_run", "explore_first", "verdict", "ends", "quality"
ALGORITHM_LIST, ALGORITHM_NEXT = Keys("{}_list"), Keys("{}_next")
SEEN = Keys("seen_{}_{}")  # the gaps are the data set and the slug
EXPLORE_AGAIN_HOW = "explore_again_how"
AGAIN, AGAIN_HOW, AGAIN_CANCEL, AGAIN_ON = (
    Keys("{}_again"), Keys("{}_again_how"), Keys("{}_again_cancel"), Keys("{}_again_on"),
)  # fmt: skip
AGAIN_PLAYER, AGAIN_FIGURES = Keys("{}_again_player"), Keys("{}_again_figures")
CENTERS, CENTERS_CSV, CENTERS_JSON = Keys("{}_centers"), Keys("{}_centers_csv"), Keys("{}_centers_json")
WEIGHTED, POINTS, POINTS_CSV = Keys("{}_weighted"), Keys("{}_points"), Keys("{}_points_csv")
ANY_K, DEFAULT_K = Keys("{}_any_k"), Keys("{}_default_k")
CORESET, CORESET_K = Keys("{}_coreset"), Keys("{}_coreset_k")
CORESET_COST = Keys("{}_coreset_cost_{}")  # the second gap is the default cost
EXPLAIN_TABLE, EXPLAIN_EPSILON, EXPLAIN_ASK = (
    Keys("{}_explain_table"), Keys("{}_explain_epsilon"), Keys("{}_explain_ask"),
)  # fmt: skip
USERS, USERS_FIGURE, USERS_ASK, USERS_TRIED = Keys("{}_users"), Keys("{}_users_{}"), Keys("{}_ask"), Keys("{}_tried")
NEAREST = Keys("{}_nearest")
TAKE, TAKE_ONE = Keys("{}_take"), Keys("{}_take_{}")  # the second gap is a kind of file or an algorithm
BESIDE, BESIDE_WORDS, BESIDE_GO = Keys("{}_beside"), Keys("{}_beside_{}"), Keys("{}_beside_go")
BESIDE_ALGORITHM, BESIDE_EARLIER = Keys("{}_beside_algorithm"), Keys("{}_beside_earlier")

# Trade-off
SWEEP, SWEEP_DATA, SWEEP_DATA_PRIVATE = "sweep", "sweep_data", "sweep_data_private"
SWEEP_ALGORITHMS, SWEEP_EPSILON, SWEEP_REPEATS = "sweep_algorithms", "sweep_epsilon", "sweep_repeats"
SWEEP_RHO, SWEEP_ROWS, SWEEP_K, SWEEP_DELTA = "sweep_rho", "sweep_rows", "sweep_k", "sweep_delta"
SWEEP_FREE, SWEEP_METRICS, SWEEP_SEED = "sweep_free", "sweep_metrics", "sweep_seed"
SWEEP_VARY, SWEEP_VARIED, SWEEP_PRESETS = "sweep_vary", Keys("sweep_vary_{}"), "sweep_presets"
SWEEP_SCALE, SWEEP_SINGLE, SWEEP_WITHIN = "sweep_scale", "sweep_single", "sweep_within"
SWEEP_PICTURE, SWEEP_START, SWEEP_CANCEL = "sweep_picture", "sweep_start", "sweep_cancel"
SWEEP_KEY, SWEEP_ENDS = "sweep_key", "sweep_ends"
SWEEP_TAB, SWEEP_TAKE, SWEEP_TAKE_KIND = "sweep_tab", "sweep_take", Keys("sweep_take_{}")
# the gap is the identity of the sweep
SWEEP_ALONG, SWEEP_METRIC, SWEEP_OF = Keys("along_{}"), Keys("metric_{}"), Keys("of_{}")
SWEEP_AT, SWEEP_AGAINST = Keys("dots_at_{}_{}"), Keys("against_{}_{}")  # The gaps are the identity and the axis.
SWEEP_GOOD = Keys("wanted_{}")  # The gap is the number of runs per point.

# Compare
COMPARE_RUNS, COMPARE_BY, COMPARE_HIDDEN, COMPARE_WHOLE = (
    "compare_runs",
    "compare_by",
    "compare_hidden",
    "compare_whole",
)
COMPARE_FORM = Keys("compare_{}_form")  # the gap is the letter of the run
COMPARE_ADD, COMPARE_REMOVE, COMPARE_SWAP = "compare_add", "compare_remove", "compare_swap"
COMPARE_AGAIN, COMPARE_CANCEL, COMPARE_PAGE = "compare_again", "compare_cancel", "compare_page"
COMPARE_ALGORITHM, COMPARE_ALL, COMPARE_SEED = (  # the gaps are the turn of the form and the letter of the run
    Keys("compare_{}_{}_algorithm"), Keys("compare_{}_{}_all"), Keys("compare_{}_{}_seed"),
)  # fmt: skip
COMPARE_PARAM = Keys("compare_{}_{}_{}_{}")  # the two further gaps are the slug and the parameter
COMPARE_ROW, COMPARE_PLANE, COMPARE_CURVES = "compare_row", Keys("compare_{}"), "compare_curves"

# Alex
ATTACKER_WHO, ATTACKER_WHO_NEXT, ATTACKER_ASK = "attacker_who", "attacker_who_next", "attacker_ask"
ATTACKER_FAR, FORM_ALEX = Keys("attacker_far_{}"), "form_alex"  # The gap is the data set.
ATTACKER_ANSWERS, ATTACKER_ANSWER = "attacker_answers", Keys("attacker_{}_{}")  # The gaps are the answer and the round.
ATTACKER_AUTO, ATTACKER_HELP, ATTACKER_CANCEL = "attacker_auto", "attacker_help", "attacker_cancel"
ATTACKER_FIGURE, ATTACKER_SQUARE = "attacker_figure", "attacker_square"
ALEX, ALEX_CANCEL, ALEX_ON = "alex", "alex_cancel", "alex_on"
ALEX_PLAYER, ALEX_FIGURES = "alex_player", "alex_figures"

# Plan
PLAN_FROM, PLAN_N, PLAN_COLUMNS, PLAN_UNITS = "plan_from", "plan_n", "plan_columns", "plan_units"
PLAN_LOW, PLAN_HIGH, PLAN_SCALE, PLAN_K = "plan_low", "plan_high", "plan_scale", "plan_k"
PLAN_LIKE, PLAN_ALGORITHMS, PLAN_WITHIN, PLAN_EPSILON = "plan_like", "plan_algorithms", "plan_within", "plan_epsilon"
PLAN_SPEND, PLAN_METHOD, PLAN_CLOUD = "plan_spend", "plan_method", "plan_cloud"
OUTSIDE_EPSILON, OUTSIDE_ASK = "outside_epsilon", "outside_ask"
PLAN_CANCEL, PLAN_ON, PLAN_FIGURE = "plan_cancel", "plan_on", "plan_figure"

# The promise, and whom to trust
PROMISED, TRUST, RHO_SEEN, RHO_LOSSES = "explore_promised", "explore_trust", "rho_seen", "rho_losses"
FORM_CLIENTS, FED_CLIENTS, FED_SPREAD, FED_NOISE = "form_clients", "fed_clients", "fed_spread", "fed_noise"
FED_EXACT, FED_RING, FED_DELAY, FED_SILENT = "fed_exact", "fed_ring", "fed_delay", "fed_silent"
FED_CLIENT, FED_ROUND, FED_PLANE, WIRE = "fed_client", "fed_round", "fed_plane", Keys("wire_{}")

# Ledger, Account
LEDGER_STEPS, BOOK_FILE, ACCOUNT_RUN = "ledger_steps", Keys("book_file_{}"), Keys("account_{}_run")

# Limits
EXACT_DATA, EXACT_NOISE = "exact_data", "exact_noise"

# Papers
PAPERS_PAPER, PAPERS_VERDICT, PAPERS_ITEM = "papers_paper", "papers_verdict", Keys("papers_{}_{}")

# Learn
LEARN_LESSON, LEARN_PART = "learn_lesson", "learn_part"
# the gap is the lesson
LEARN_ANSWER, LEARN_DRAFT, LEARN_SEED = Keys("learn_answer_{}"), Keys("learn_draft_{}"), Keys("learn_seed_{}")
COURSE_PARTS, COURSE_PART, STONE, START = "course_parts", Keys("course_{}"), Keys("stone_{}"), Keys("start_{}")
LESSON_OPTIONS, LESSON_OPTION, LESSON_CHECK = "lesson_options", Keys("lesson_option_{}"), "lesson_check"
LESSON_BACK, LESSON_NEXT, LESSON_ALL, LESSON_ONWARD = "lesson_back", "lesson_next", "lesson_all", "lesson_onward"
LESSON_FOLLOWER, LESSON_HEAD, LESSON_SIDE = "lesson_follower", "lesson_head", "lesson_side"
LESSON_PLAYER, LESSON_TRANSPORT, LESSON_FIGURES = "lesson_player", "lesson_transport", "lesson_figures"
LESSON_FIGURE, LESSON_PART, LESSON_DRAW, STILL = Keys("lesson_{}"), Keys("lesson_{}_{}"), "lesson_draw", "still"
PROGRESS, PROGRESS_ADDRESS, PRINT = "progress", "progress_address", "print"

# Notes
NOTES_LESSONS, NOTES_SHOW, NOTES_DECK = "notes_lessons", "notes_show", "notes_deck"
# the gap is a plan's minutes in the first key, and the lessons' names in the second
NOTES_PLAN, NOTES_AT = Keys("notes_plan_{}"), Keys("notes_at_{}")

# Class
CLASS_CODE, CLASS_KEY, CLASS_JOIN, CLASS_OPEN = "class_code", "class_key", "class_join", "class_open"
CLASS_KEEPS, CLASS_STAGE, CLASS_END, CLASS_CLOSE = "class_keeps", "class_stage", "class_end", "class_close"
CLASS_CLOSE_YES, CLASS_RESUME, CLASS_SHOWN = "class_close_yes", "class_resume", "class_shown"
CLASS_RENEW, CLASS_EMPTY = "class_renew", "class_empty"
CLASS_QUESTION, CLASS_OPTIONS, CLASS_ASK = "class_question", "class_options", "class_ask"
CLASS_FORM, CLASS_METHOD, CLASS_EPSILON, CLASS_K = "class_form", "class_method", "class_epsilon", "class_k"
CLASS_BESIDE, CLASS_ABOUT, CLASS_RUN, CLASS_PANELS = "class_beside", "class_about", "class_run", "class_panels"
CLASS_PLACE, CLASS_MEMORY, CLASS_MIRROR = "class_place", "class_memory", "class_mirror"
# the gap is the lesson
CLASS_ANSWERS, CLASS_LESSON, CLASS_PART = "class_answers", "class_lesson", Keys("class_part_{}")
# the gaps are the question and the answer in the first key, and the guess and the round in the second
CLASS_ANSWER, CLASS_GUESS = Keys("class_answer_{}_{}"), Keys("class_{}_{}")

# Present
PRESENT_SLIDE, PRESENT_LOOK, PRESENT_SHOW = "present_slide", "present_look", "present_show"
PRESENT_STAGE, PRESENT_AGAIN = "present_stage", "present_again"
DECK_SAVE, DECK_DEFAULT, DECK_FILE, DECK_TITLE = (
    "deck_save", "deck_default", Keys("deck_file_{}"), Keys("deck_title_{}"),
)  # fmt: skip
SLIDE_ADD, SLIDE_REMOVE, SLIDE_MOVE = "slide_add", "slide_remove", Keys("slide_{}")
SLIDE_TITLE, SLIDE_SCENE, SLIDE_NOTES = Keys("slide_title_{}"), Keys("slide_scene_{}"), Keys("slide_notes_{}")
SLIDE_SECONDS, SLIDE_SHOW = Keys("slide_seconds_{}"), Keys("slide_show_{}")

# Share
SHARE_START, SHARE_HIDE, SHARE_LOCK, SHARE_TASK = "share_start", "share_hide", "share_lock", "share_task"
SHARE_DECK, SHARE_LINK, SHARE_COLORS, SHARE_OPEN = "share_deck", "share_link", "share_colors", "share_open"

# Data
DATA_WAY, GALLERY, USE, BLOBS = "data_way", "gallery", Keys("use_{}"), Keys("blobs_{}")
PAINT, PAINTED = "paint", "painted"
FILE, KEY_FILE, UPLOAD_SHOWN = Keys("file_{}"), Keys("key_file_{}"), "upload_shown"
SAY_PRIVATE, SAY_PUBLIC, SAY_HEADER = "say_private", "say_public", Keys("say_header_{}")
# The declaration of a file, and how it is read; the gap is the upload's `key`
BOUNDS, LABEL, EFFECT, DICTIONARY = Keys("{}_bounds"), Keys("{}_label"), Keys("{}_effect"), Keys("{}_dictionary")
ROWS, ROWS_ARE, ROWS_PER_PERSON, UNIT = Keys("{}_n"), Keys("{}_n_is"), Keys("{}_rows_per_person"), Keys("{}_unit")
SCALE, RADIUS = Keys("{}_scale"), Keys("{}_radius")
PLACE, CONFIRM = Keys("{}_differently_place"), Keys("{}_confirm")
KEPT, KEPT_TAKE = "kept_declared", Keys("{}_take_kept_{}")
SHEET, FIRST_LINE = Keys("{}_sheet"), Keys("{}_row")
NUMBERS, SEPARATOR, N_COLUMNS = Keys("{}_numbers"), Keys("{}_separator"), Keys("{}_n_columns")
DECIMAL = Keys("{}_decimal_{}")
