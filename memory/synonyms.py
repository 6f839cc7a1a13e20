"""Words of one meaning to a developer: irregular forms, then everyday and technical words that stand for each other.

A line is a group; a word may be in several, and groups are not chained: what two groups share does not join them.
"""

_IRREGULAR = """
begin began begun
bind bound
break broke broken
build built rebuild rebuilt
buy bought
catch caught
choose chose chosen
come came
cut
draw drew drawn
drive drove driven driver
eat ate eaten
fall fell fallen
feed fed
find found
forbid forbade forbidden
forget forgot forgotten
freeze froze frozen
get got gotten
give gave given
go went gone goes
grow grew grown
hang hung
have has had
hide hid hidden
hold held
keep kept
know knew known
lead led
leave left
lose lost loses
make made
mean meant
override overrode overridden
overwrite overwrote overwritten
pay paid
read
run ran
see saw seen
sell sold
send sent
shrink shrank shrunk
sign signed signature
sleep slept
speak spoke spoken
spend spent
steal stole stolen
take took taken
teach taught
tell told
think thought
throw threw thrown
understand understood
wake woke woken
write wrote written rewrite rewritten
index indices indexes
matrix matrices
vertex vertices
schema schemas schemata
axis axes
analysis analyse analyze analyser analyzer
"""

_EVERYDAY = """
able possible
above over beyond exceed exceeds
absent missing lacking
accept accepts admit
accompany come with need
acquire obtain get fetch
again anew repeat twice
ago old past
alike same equal equals identical equality
allow allowed permit permitted may
alter change changed modify modified edit adjust tweak update updated
always every each all
anew again rebuilt rebuild recreate
answer reply response respond
appear show visible display displayed
arrive come receive received arrives
ask query request
attach connect join mount
author writer
avoid never not forbid
bad wrong broken invalid incorrect
begin start first initial
behind lag lags late delay delayed
below under beneath less
big large huge size
block blocked prevent stop
bottleneck slow
bring start launch
careful caution watch beware attention gotcha pitfall trap
cause make why reason because
check verify verified validate validated validation confirm ensure
choose pick select chosen selected decide decided
clean clear empty purge wipe flush
close closed shut
collect gather aggregate
compare comparison compared equal
complain warn warns flag flags refuse reject error
complete finish finished full whole done
contact ask talk channel
contain hold holds include includes
convert translate transform conversion turn
copy duplicate clone cp
correct right fix fixed
count number amount
crash crashes abort panic segfault die dies
create make new add generate produce
current now present today
damage corrupt corrupted corruption break destroy
danger dangerous unsafe risky
delete remove removed drop erase purge delete wipe
deliver send ship
describe document documented explain define
destroy delete remove break
differ different difference other
disable disabled off deactivate turn switch
discard drop throw ignore
display show shows shown render
divide split partition shard
double twice two duplicate
during while in
each per every
earlier before previous prior former
empty clear blank none purge
enable enabled on activate turn switch
end finish stop
enough sufficient
enter input type
every daily hourly weekly nightly
exact precise exactly
expect expected golden
explode blow burst
fail fails failing failed failure fault break breaks crash error errors
fast quick quickly speed rapid
fetch download pull get retrieve
few some
fill populate seed seeded
fix repair mend solve resolve workaround
flaky unreliable unstable intermittent glitch glitches sometimes random
follow obey adhere
forbid forbidden ban banned prohibit prohibited disallow disallowed never not
forget leave omit
freeze frozen hang hangs stuck blocked deadlock
fresh freshness new current
gather collect
give provide supply pass
go belong live
group team
grow increase raise bigger
guard protect
hand manual manually handwritten
happen occur
hide hidden mask redact conceal
hint tip
hour hourly hours
huge large
ignore skip skipped exclude excluded
immediately once instantly
import load read ingest
increase raise bump higher
inform tell notify
install set-up setup installation
invalid wrong malformed bad
join merge combine
keep kept retain retained retention store preserve stay
kind type sort
last final latest
late delay lag
learn train
leave exit quit
length long size
less fewer below
limit limited cap capped maximum max bound quota most
list enumerate listed catalogue
little small
load import read loaded
lock locked mutex
long duration
look view inspect see
lose lost missing gone drop disappear vanish vanished
low minimum
make create build generate produce
many several multiple
match fit correspond
measure measured measurement
mistake error confuse mistaken
move moved relocate migrate
must required need mandatory obligatory have
name named call called naming
new fresh add another
nice pretty
night nightly midnight
noise noisy
notice see observe
obey follow respect
occur happen appear
offline disconnected unplugged
old outdated former stale legacy previous obsolete
open opened
order sequence sorted sort ordering
original source raw
own owner owns owned responsible maintain maintains maintained maintainer charge
part piece section component portion
pass give hand
people person human somebody team
periodic periodically regular regularly every schedule scheduled
person people who human
pick choose select
place put location where
postpone delay defer
prefer favour rather instead
previous former old last
private secret internal confidential
produce generate create emit output
protect protected encrypt encrypted guard secure safe
provide supply give offer
public open exposed
put place store
quick fast short
quit exit stop close leave
raise increase bump
rare rarely seldom
reach contact access
read parse consume
reason why because cause
rebuild recreate anew
receive get accept arrive consume
reduce lower decrease shrink
refuse refused reject rejected deny denied decline
regenerate generate rebuild refresh recreate
register add introduce list
reject refuse deny
release ship publish
remember keep
remote server
remove delete removed drop strip
repair fix mend recover
repeat again retry
replace substitute swap instead
reply answer response
require required need needs needed mandatory
rest remainder
restart reboot reload relaunch
restore recover recovery
result outcome output
return give
reuse share
rewrite replace
safe safely secure
same identical equal equals alike
save store stored keep persist persisted write
scan scanner search
schedule scheduled cron timer
see look view inspect watch
send sent post publish deliver forward
separate split apart own
set configure assign
share shared common both several
shorten trim truncate
show display print list see
shut close stop
silent silently quiet quietly
single one alone only
skip ignore omit bypass
slow slowly long
small little tiny
solve fix
sometimes occasionally intermittent flaky
sort order
speed fast rate performance
split divide separate
stale old outdated
start begin launch run boot
state status
stop halt end shut kill
store keep save put
strange odd weird
strict strictly
stuck hang hangs blocked
supply provide
switch toggle change
synchronise sync synchronised synchronized
take grab capture
talk speak communicate
temporary temp tmp transient scratch
test tests check try
text string strings
throw raise
tidy clean
tool program utility
touch change edit
try attempt
turn switch
undo revert rollback roll
unit module
unsafe dangerous
unused dead
update refresh upgrade bump
upgrade bump update newer
usable use accessible
user customer person people
vanish disappear lost
view look see
wait block
warn warning alert
watch monitor observe
weird odd
whole entire complete full all
wide width
wrong incorrect bad
"""

_TECHNICAL = """
sensitive personal pii private confidential secret
protected mask masked encrypted anonymised
minimum least oldest min lowest smallest
maximum most largest max biggest highest latest newest
last expire expires valid
image firmware flash
ast tree syntax
ship beta release
language written
german french spanish italian japanese chinese russian arabic hebrew portuguese dutch polish translation translations locale locales language
english translation language
open start started launch visit
incoming inbound raw input
land lands landed arrive end
refresh rebuild rebuilt rerun
downstream dependents after
upstream before
rerun again repeat reprocess
see view dashboard report
missing need needs lacking
accompany accompanied without need needs
string strings text texts translation translations
vanish vanished disappear disappeared gone deleted removed lost
entry entries record records row
verify verified test tested check checks
watch see show shows view headed
send sent outgoing
two both
notify notified notification alert alerts paged
read reads reader readers reading
commit committed repository
security secure policy policies
gc garbage
enable set activate
accessibility a11y
account accounts
acknowledge ack acks acknowledged
administrator admin admins
alert alerts page paged pager notify notification alarm alarms
allocate allocated allocation malloc memory heap
android apk gradle
anonymise anonymised anonymize pseudonymise hash hashed
antivirus virus defender
api endpoint endpoints route routes
app application apps program
arch architecture
archive zip tarball tar
argument arguments parameter parameters option flag
art asset assets artwork
assertion assert
asynchronous async await background
authentication authenticate auth login signin token credentials
authorisation authorization authorise authorize permission permissions acl policy policies access role roles
background async worker workers daemon
backend server
backfill reprocess rerun replay reload
backup backups snapshot dump
bandwidth throughput
benchmark benchmarks bench performance speed measure
binary executable exe bin
branch branches trunk main
broker queue kafka rabbitmq
browser chrome firefox web
buffer ring queue
bug issue defect fault
bundle bundler bundled pack webpack vite
cache cached caches caching memo memoised
calculation compute computed computes calculate calculated
callback callbacks hook hooks handler
camera webcam
certificate certificates cert certs tls ssl https
changelog changeset release notes
channel topic
character characters char chars letter
checksum hash digest sum
chip chips microcontroller mcu soc
ci pipeline pipelines workflow actions
clock time timer
cluster clusters kubernetes k8s
codegen generate generated generator generation regenerate
colour color colours colors
column columns field
commit commits committed
compatibility compatible compat
compile compiled compiler build built compilation
component components widget module part
compress compressed compression gzip zstd
concurrent concurrency concurrently parallel thread threads simultaneous simultaneously goroutine
config configuration configure configured configs setting settings options preferences
connect connection connections connected
console terminal shell cli
constant constants const
consumer consumers subscriber listener
container containers docker image podman
contract interface spec schema
contribute contribution contributor pr
coverage covered
crash crashes crashed abort panic segfault
credential credentials secret secrets password passwords key token keys tokens
cron crontab schedule scheduled timer nightly
css style styles stylesheet stylesheets styling scss sass tailwind
currency money price prices euros dollars cents
dashboard dashboards grafana
data records dataset datasets
database db databases postgres postgresql mysql sqlite sql
deadlock hang lock
debian deb apt
debug debugging debugger verbose verbosity gdb
decode decoded decoder parse
default defaults standard
dependency dependencies package packages library libraries lib requirement vendor
deploy deployed deployment deploys rollout ship release
deprecated obsolete outdated old
develop developer development dev local locally
device devices hardware phone board
diagnostic diagnostics diag warning warnings
directory directories dir folder folders
disk storage drive
docs documentation doc document documented manual guide readme
domain hostname dns
dst daylight summer
dump export
email mail mails e-mail emails
embedding vector
emulator simulator emulate simulate simulated
encode encoded encoding
encrypt encrypted encryption
endpoint url
entry entrypoint main
environment env environments
error errors exception exceptions
event events message
example examples sample samples demo fixture fixtures
expire expires expired expiry ttl valid lifetime
export exports exported
extension plugin plugins addon
feature flag toggle flags toggles
file files
firewall ports
firmware image
fixture fixtures sample testdata
flash flashed flashing burn upload
font fonts typeface
format formatter formatting formatted fmt prettier black gofmt
fps frame frames
framework library
frontend ui web client
function functions method routine
fuzz fuzzing fuzzer
gpu graphics video
grammar syntax
graph dag
handbook docs manual
handler handle handled handles
hardware board device
hash hashed digest
header headers
host hosts server machine node
html template templates
http https web
icon icons
identifier id ids
image picture pictures photo photos images
index indexed indexing
infrastructure infra terraform
ingest import load intake
install installed installing installation
integer int ints integers
integration end-to-end e2e
interface ui api
internationalisation i18n translation translations locale locales language languages localisation localization l10n
interpreter vm
interrupt isr irq
invoice invoices bill billing
ios iphone ipad
ir intermediate representation
javascript js typescript node
job jobs task tasks
json yaml
kernel driver
key keys
keyboard shortcut
keyword keywords reserved
language languages lang locale
latency delay
layer layers level
layout layouts
ledger book
library libraries package dependency third-party external
licence license licensed licences
link linked linker
lint linter linting linters lints eslint ruff
listen listens port
local locally laptop machine
localhost loopback local
locale locales language translation
lockfile lock pin pinned
log logs logging logged journal
machine machines host computer laptop
macro macros
mail smtp
manifest package
map maps mapping
markdown md
memory ram
menu menus
merge merged merging
message messages msg
metric metrics monitoring prometheus telemetry statistics stats
migrate migration migrations migrating schema alembic
mobile phone
mock mocks mocked fake fakes stub stubs double
model models
money amount amounts cents price
monitor monitored monitoring watch observe
mutex lock locks
network connection internet
node nodes machine
nullable null none optional
numeric number numbers
offset shift
operating os system
optimise optimize optimisation optimization optimised optimizer pass passes
output print emit
package packages module
packaging installer package msi dmg
page pages screen screens view
panic panics crash
parallel concurrently simultaneously
parser parse parsing parses grammar
patch patches
path paths
payment payments pay stripe checkout
performance speed fast slow benchmark
permission permissions rights access
persist persisted persistent persistence stored saved
personal pii private customer gdpr
physics simulation
pin pinned fixed stuck
pipeline workflow
pixel pixels
platform platforms os
playback play player
plugin plugins extension
policy policies rule rules
port ports
precision decimals accuracy
prerelease beta alpha rc
preview staging
printer print
process processes pid
production prod live
profile profiler profiling flamegraph
prompt prompts
protobuf proto protocol
protocol protocols wire
provider vendor
publish published release publishes
pull-request pr merge-request mr
python py pip
query queries search
queue queues broker
race races concurrent
random seed
rate frequency speed
receipt receipts
recipient recipients address addresses
record records row rows
redact redacted redaction mask
refactor restructure
refresh reload update
registry registries
regression regressions
release releases version tag released
reload restart refresh
rendering render renderer renders rendered draw
replica replicas replication follower
report reports
repository repo repositories
request requests call calls
reset restart wipe
resize scale
response reply
retention kept expire
retry retries retried retrying again
reverse rollback
review reviews reviewed reviewer reviewers approve approval approved
role roles permission
rollback revert undo roll
root admin sudo superuser
rotate rotation rotated renew
route routes router routing
runner runners agent
runtime run
sanitise sanitize escape clean
sandbox isolated
scale scaling autoscale
schema table tables structure
scratch temporary tmp
script scripts
search find lookup
seed seeded seeding populate
sensor sensors
serialise serialize serialised serialisation serialization marshal encode
server servers backend daemon service
service services daemon
session sessions
setting settings preference preferences
shader shaders hlsl glsl
sign signed signing signature notarise notarised
simulate simulation simulator sim
simulator emulator
snapshot snapshots golden
socket sockets io
spec specification openapi
spelling typo
sql queries
ssh login
stack trace traceback backtrace
staging stage stg
stale outdated
startup boot start
statistics stats
storage bucket s3 disk store
stream streaming
stylesheet css
subscriber consumer
suite tests
symbol symbols
synchronise sync
syntax grammar
system os
tab tabs indentation indent
table tables
tag tags label
target targets
task tasks job
teardown cleanup
telemetry metrics
template templates
tenant tenants customer organisation
terminal tty console
terraform tf
test tests testing suite tested pytest unittest ctest spec
thread threads goroutine concurrency
throttle throttled throttling limit rate
ticket issue
timeout timeouts timed deadline
timestamp timestamps time date
timezone utc zone
token tokens jwt
tool tools toolchain
topic topics
trace tracing traces
transaction transactions
translate translated translation translations
transpile compile
tree trees
trigger triggers triggered
tutorial guide docs
typecheck mypy tsc types
ui interface frontend gui screen
uninstall remove
unit units
update updates updated
upload uploads uploaded
url urls link address
username user
utc timezone
validate validated validation validator
variable variables var vars
vendor vendored third-party
version versions release
versioning version
video clip
virtualenv venv
vm virtual
volume disk mount
vulnerability vulnerabilities cve security
warehouse snowflake bigquery
warning warnings
webhook webhooks hook callback
webpage website site page
wildcard glob
windows win32
wire protocol
worker workers background consumer
workflow pipeline
workspace workspaces monorepo
wrapper wrap
xml
zone zones region
"""
SYNONYMS = tuple(tuple(line.split()) for line in (_IRREGULAR + _EVERYDAY + _TECHNICAL).split("\n") if " " in line)
