"""What the words of a question weigh, and which of them mean the same to a developer."""

# Say nothing about the subject of a question.
STOP = frozenset(
    """a about again all also am an and any anything are as at be been before being both but by can cannot could
    did do does doing done each either else every for from had has have he her here him his how i if in instead
    into is it its just let like me might mine more most much must my no nor not of off on once one only or
    other our out over own please same shall she should so some somebody someone something still such tell than
    that the their them then there these they thing things this those to too under until up upon us very was we
    well were what when where whether which while who whom whose why will with without would yes yet you your
    quickly currently exactly really actually many ever don doesn isn aren didn won t s m re ve ll d may allowed
    supposed possible okay ok kind sort way ways need needs needed there's mean means meant since work works
    know find look happen happens best right correct properly usually normally often long everything after time
    point single formerly previously originally nowadays former""".split()  # noqa: SIM905 - one word a line would be a page
)

# Say little: they are in half of all questions, and are worded differently in the answer.
WEAK = frozenset(
    """use uses used using run runs running ran execute make makes made get gets got put puts go goes going live
    lives located location stored store storing kept keep keeps defined define declared declare found held hold
    sit sits start starts started launch begin set change changes changed changing edit modify update add create
    new want file files folder directory code command commands name named called call show shows see seen have
    take takes give place placed belong belongs come comes send sent handle handled work require required local
    locally manage managed configured configure part parts list listed type types value values thing default
    written write writes cause causes caused effect two both several git manually only without project projects
    repository repo repositories codebase usually entire available previous old older earlier""".split()  # noqa: SIM905 - one word a line would be a page
)

# What `which` and `what` ask for without the answer repeating it.
CATEGORIES = frozenset(
    """function functions component components tool tools program programs library libraries framework
    frameworks package packages module modules class classes method methods file files directory directories
    folder folders path paths place thing things item items unit units language languages format formats command
    commands script scripts target targets provider providers vendor vendors service services system systems
    machine machines host hosts device devices number numbers value values name names kind kinds type types sort
    way ways step steps part parts team teams person people platform platforms database databases protocol
    protocols algorithm algorithms strategy standard standards convention conventions style version versions
    setting settings option options flag flags variable variables variant key keys branch branches environment
    engine software technology approach mechanism pattern port ports precaution rule rules""".split()  # noqa: SIM905 - one word a line would be a page
)
# Kinds that a number answers.
MEASURES = frozenset(
    """acceleration latitude longitude altitude temperature voltage current frequency rate speed distance depth height
    width size weight angle duration period interval percentage threshold limit pressure humidity latency timeout
    resolution precision range amount quantity capacity budget quota baudrate bitrate""".split()  # noqa: SIM905
)

DETERMINERS = frozenset(
    """the a an our my this that these those any some new single one all another its i we you it they
    there""".split()  # noqa: SIM905 - one word a line would be a page
)
# What ends the noun after `which`, `where is` or the action of a question.
LINKING = frozenset(
    """is are was were be do does did can could must should shall may might will would has have had need needs run runs
    use uses used to of in on at for from with by that it they we i you the a an happens happen causes cause makes make
    tells tell says say holds hold keeps keep must't the if when while and or about goes go reads read writes write
    sends send gets get comes come takes take gives give""".split()  # noqa: SIM905 - one word a line would be a page
)

# Spelt with humps, and names of nothing in the repository.
PRODUCTS = frozenset(
    """javascript typescript coffeescript github gitlab bitbucket postgresql openapi fastapi youtube linkedin wordpress
    pytorch tensorflow rabbitmq circleci testflight cloudfront cloudflare jetbrains powershell clickhouse elasticsearch
    opensearch jupyterlab activemq tailwindcss storybook wireguard virtualbox bigquery dynamodb""".split()  # noqa: SIM905
)

# Each line: words of which an answer about one is no answer about another.
_CONTRASTS = """
production prod;development dev developing;staging stg
ios iphone;android;windows;macos mac;linux
unit;integration;end-to-end e2e detox playwright browser
upload;download
read;write
create;delete remove
rpm;debian deb
apply;rollback roll
backup;restore
"""
CONTRASTS = tuple(tuple(tuple(part.split()) for part in line.split(";")) for line in _CONTRASTS.strip().splitlines())

# Wordings of several words that are one word elsewhere; applied to questions and entries alike.
PHRASES = (
    ("end to end", "e2e"),
    ("end-to-end", "e2e"),
    ("on call", "oncall"),
    ("on-call", "oncall"),
    ("log in", "login"),
    ("logs in", "login"),
    ("log out", "logout"),
    ("sign in", "login"),
    ("roll back", "rollback"),
    ("rolled back", "rollback"),
    ("set up", "setup"),
    ("e-mail", "email"),
    ("up to date", "freshness"),
    ("up-to-date", "freshness"),
    ("out of date", "outdated"),
    ("thread-safe", "concurrent"),
    ("thread safe", "concurrent"),
    ("third-party library", "dependency"),
    ("third-party libraries", "dependencies"),
    ("third-party package", "dependency"),
    ("third party library", "dependency"),
    ("third-party", "external"),
    ("third party", "external"),
    ("pull request", "pr"),
    ("merge request", "pr"),
    ("reserved word", "keyword"),
    ("personal data", "pii"),
    ("sensitive data", "pii"),
    ("turn on", "enable"),
    ("turned on", "enabled"),
    ("turns on", "enables"),
    ("turn off", "disable"),
    ("turned off", "disabled"),
    ("switch on", "enable"),
    ("switched on", "enabled"),
    ("switch off", "disable"),
    ("switched off", "disabled"),
    ("pick up", "reload"),
    ("picks up", "reload"),
    ("by hand", "manually"),
    ("my own machine", "locally"),
    ("my machine", "locally"),
    ("my laptop", "locally"),
    ("my computer", "locally"),
    ("own computer", "locally"),
    (" who may", " permission"),
    ("garbage collector", "gc"),
    ("garbage collection", "gc"),
    ("command line", "cli"),
    ("environment variable", "env"),
    ("user interface", "ui"),
    ("web interface", "ui"),
    ("front end", "frontend"),
    ("front-end", "frontend"),
    ("back end", "backend"),
    ("back-end", "backend"),
    ("time out", "timeout"),
    ("times out", "timeout"),
    ("time zone", "timezone"),
    ("code base", "codebase"),
    ("source code", "code"),
    ("start-up", "startup"),
    ("start up", "startup"),
    ("go out", "released"),
    ("goes out", "released"),
    ("go live", "released"),
    ("goes live", "released"),
    ("back up", "backup"),
    ("backed up", "backup"),
    ("backs up", "backup"),
    ("fall over", "fail"),
    ("falls over", "fails"),
    ("go wrong", "fail"),
    ("goes wrong", "fails"),
    ("tear down", "teardown"),
    ("clean up", "cleanup"),
    ("look up", "lookup"),
    ("shut down", "shutdown"),
    ("per second", "rate"),
    ("two factor", "2fa"),
    ("two-factor", "2fa"),
)
