"""What the words of a question weigh, and which of them mean the same to a developer."""

# Say nothing about the subject of a question.
STOP = frozenset(
    """a about again all also am an and any anything are as at be been before being both but by can cannot could did do
    does doing done each either else every for from had has have he her here him his how i if in instead into is it its
    just let like me might mine more most much must my no nor not of off on once one only or other our out over own
    please same shall she should so some somebody someone something still such tell than that the their them then there
    these they thing things this those to too under until up upon us very was we well were what when where whether
    which while who whom whose why will with without would yes yet you your quickly currently exactly really actually
    many ever don doesn isn aren didn won t s m re ve ll d may allowed supposed possible okay ok kind sort way ways
    need needs needed there's mean means meant since work works project repo repository know find look happen happens
    best right correct properly usually normally often long everything after time point single""".split()  # noqa: SIM905 - one word a line would be a page
)

# Say little: they are in half of all questions, and are worded differently in the answer.
WEAK = frozenset(
    """use uses used using run runs running ran execute make makes made get gets got put puts go goes going live lives
    located location stored store storing kept keep keeps defined define declared declare found held hold sit sits
    start starts started launch begin set change changes changed changing edit modify update add create new want
    file files folder directory code command commands name named called call show shows see seen have take takes give
    place placed belong belongs come comes send sent handle handled work require required local locally have manage
    managed configured configure part parts list listed type types value values
    thing default support supported""".split()  # noqa: SIM905 - one word a line would be a page
)

# Each line: words that a person uses for one and the same thing.
_SYNONYMS = """
database db postgres postgresql mysql sql schema table
test tests testing suite check verify verified tested pytest
run start execute launch begin started starts bring invoke boot
build compile compiled built rebuild make package
deploy ship release publish released deployed rollout
production prod
development dev develop developing developer local
staging stage stg
delete remove purge erase drop clear empty vanish vanished deleted removed disappear gone
change edit modify update alter adjust touch introduce
add create introduce new insert register make
configuration config configure settings setting options configured
dependency dependencies library libraries package packages
version release
error errors failure fault
crash crashes crashed abort
log logs logging logged verbosity
debug verbose verbosity debugging
reload refresh restart
secret secrets password passwords credential credentials key keys token tokens
login signin authenticate auth
alert alerts notify notified page paged notification notifications
monitor monitored monitoring watch
push message messages
screen screens page pages view
translation translations translate translated locale locales language languages string strings text texts localisation
icon icons image images
picture image images
endpoint endpoints api route routes
ui interface frontend
browser web
webpage web site website
documentation docs document documented
directory folder directories folders
file files
function method
thread threads concurrent concurrency parallel goroutine goroutines
mutex lock locks locked
benchmark benchmarks performance speed measure bench
fast quick quickly
fuzz fuzzer fuzzing
lint linter linting
format formatter formatting fmt
style styles styling css
debian deb
iphone ios
emulator simulator
device phone
bundler metro
migration migrations migrate
backfill reprocess reload rerun replay
export exports
import imports imported importing
email mail
personal pii private customer
hash hashed anonymise anonymised protect protected
warehouse snowflake
cluster clusters kubernetes kubernetes k8s
terraform tf
node nodes machine machines host
image ami
plan preview
policy policies rule rules
permission permissions authorisation authorization authorize authorise access allowed
cache cached caches caching
flag flags toggle toggled feature
price prices money amount amounts cost
sample samples fixture fixtures example examples
payment payments pay
task tasks job jobs
job cron nightly scheduled schedule
night nightly
hour hours hourly
often every hourly daily schedule
day days daily
minute minutes
worker workers
background asynchronous async
time timestamp timestamps
grammar syntax
parser parse parsing
keyword keywords reserved
ir intermediate representation
equal equality same identical compare
print emit output report
warning warnings diagnostic diagnostics diag
golden expected snapshot
optimisation optimization pass passes
memory allocate allocated allocation arena
exception exceptions throw throws
physics simulation
fps frame
render rendering renderer graphics draw
asset assets art
save saved saves
shader shaders hlsl
capture record
graphics gpu
editor edit
level scene
component components
variable variables var vars env environment
environment environments env envs
shared share several common
workspace workspaces monorepo
changeset changelog
pull pr
expire expires expired expiry valid validity
minimum least oldest min lowest
maximum most largest max biggest
wide width
retry retried retries
request requests call calls network
table tables schema
data records
import load loaded
update upgrade upgrading bump bumped
downgrade pin pinned
stuck pin pinned
console dashboard
dashboard dashboards
person people
stuck hang hangs blocked frozen
local locally machine
start pick reload reloads
setting settings config configuration
toggle toggled flag flags
save saved store stored keep kept
login auth authentication token tokens
vanished deleted gone
break breaks broken fail alert alerts
commit committed repository
style stylesheet stylesheets css scss
password passwords secret secrets
fetch fetched download downloaded install installed pull
generate generated generator regenerate codegen generates
connect connection
socket sockets io
destroy destroyed broke break broken breaks
"""
SYNONYMS = tuple(tuple(line.split()) for line in _SYNONYMS.strip().splitlines())

# Each line: words of which an answer about one is no answer about another.
_CONTRASTS = """
production prod;development dev developing local locally;staging stg
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
    ("log in", "login"),
    ("roll back", "rollback"),
    ("e-mail", "email"),
    ("up to date", "freshness"),
    ("thread-safe", "concurrent"),
    ("thread safe", "concurrent"),
    ("third-party", "external"),
    ("third party", "external"),
)
