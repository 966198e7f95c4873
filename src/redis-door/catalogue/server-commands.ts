/**
 * Commands about connections, the server, channels, scripts and shards, a command in a line:
 *
 * `name arity flags first,last,step categories group since keys tips summary`
 *
 * Flags are letters (`command-flags.ts`); keys are explained in `key-specs.ts`; `-` stands for nothing. Categories that
 * follow from flags are left out.
 */
export const serverCommandLines: string = `
multi 1 sltFB 0,0,0 transaction transactions 1.2.0 - - Begins a transaction.
exec 1 sltL 0,0,0 transaction transactions 1.2.0 - - Runs the commands of a transaction with nothing in between.
discard 1 sltFB 0,0,0 transaction transactions 2.0.0 - - Forgets the commands of a transaction.
watch -2 sltFB 1,-1,1 transaction transactions 2.2.0 RO@1:-1,1,0 - Lets EXEC do nothing if one of the keys changes before.
unwatch 1 sltFB 0,0,0 transaction transactions 2.2.0 - - Forgets what was watched.
ping -1 F 0,0,0 connection connection 1.0.0 - request_policy:all_shards,response_policy:all_succeeded Answers PONG, or what was sent with it.
echo 2 ltF 0,0,0 connection connection 1.0.0 - - Answers what was sent.
auth -2 sltFuB 0,0,0 connection connection 1.0.0 - - Says who the client is.
hello -1 sltFuB 0,0,0 connection connection 6.0.0 - - Chooses the version of RESP, and may authenticate.
select 2 ltF 0,0,0 connection connection 1.0.0 - - Chooses the database of the connection.
quit -1 sltFuB 0,0,0 connection connection 1.0.0 - - Ends the connection.
reset 1 sltFuB 0,0,0 connection connection 6.2.0 - - Makes the connection as it was when it began.
client -2 - 0,0,0 - connection 2.4.0 - - Connections of clients.
client|caching 3 slt 0,0,0 connection connection 6.0.0 - - Sets whether the keys of the next command are tracked.
client|getname 2 slt 0,0,0 connection connection 2.6.9 - - Gives the name of this connection.
client|getredir 2 slt 0,0,0 connection connection 6.0.0 - - Tells to which client invalidations go.
client|help 2 lt 0,0,0 connection connection 5.0.0 - - Explains the subcommands.
client|id 2 slt 0,0,0 connection connection 5.0.0 - - Gives the number of this connection.
client|info 2 slt 0,0,0 connection connection 6.2.0 - nondeterministic_output Describes this connection.
client|kill -3 aslt 0,0,0 connection connection 2.4.0 - - Ends connections.
client|list -2 aslt 0,0,0 connection connection 2.4.0 - nondeterministic_output Describes the connections.
client|no-evict 3 aslt 0,0,0 connection connection 7.0.0 - - Sets whether this connection may be ended for memory.
client|no-touch 3 slt 0,0,0 connection connection 7.2.0 - - Accepted: reads do not change when a key was used.
client|pause -3 aslt 0,0,0 connection connection 2.9.50 - - Lets all commands wait, or those that write.
client|reply 3 slt 0,0,0 connection connection 3.2.0 - - Sets whether commands of this connection are answered.
client|setinfo -4 slt 0,0,0 connection connection 7.2.0 - - Sets the name or version of the client's library.
client|setname 3 slt 0,0,0 connection connection 2.6.9 - - Sets the name of this connection.
client|tracking -3 slt 0,0,0 connection connection 6.0.0 - - Sets whether this connection is told when keys change that it has read.
client|trackinginfo 2 slt 0,0,0 connection connection 6.2.0 - - Tells how this connection tracks keys.
client|unblock -3 aslt 0,0,0 connection connection 5.0.0 - - Ends the waiting of another client.
client|unpause 2 aslt 0,0,0 connection connection 6.2.0 - - Ends what CLIENT PAUSE began.
command -1 lt 0,0,0 connection server 2.8.13 - nondeterministic_output_order Lists all commands with what clients have to know of them.
command|count 2 lt 0,0,0 connection server 2.8.13 - - Counts the commands.
command|docs -2 lt 0,0,0 connection server 7.0.0 - nondeterministic_output_order Gives summaries of commands.
command|getkeys -4 lt 0,0,0 connection server 2.8.13 - - Finds the keys in a command.
command|getkeysandflags -4 lt 0,0,0 connection server 7.0.0 - - Finds the keys in a command, and what it does to them.
command|help 2 lt 0,0,0 connection server 5.0.0 - - Explains the subcommands.
command|info -2 lt 0,0,0 connection server 2.8.13 - nondeterministic_output_order Gives what clients have to know of some commands.
command|list -2 lt 0,0,0 connection server 7.0.0 - nondeterministic_output_order Lists the names of commands.
config -2 - 0,0,0 - server 2.0.0 - - Settings of the door.
config|get -3 aslt 0,0,0 - server 2.0.0 - - Gives settings.
config|help 2 lt 0,0,0 - server 5.0.0 - - Explains the subcommands.
config|resetstat 2 aslt 0,0,0 - server 2.0.0 - - Sets the counters of INFO to zero.
config|rewrite 2 aslt 0,0,0 - server 2.8.0 - - Refused: the door has no configuration file.
config|set -4 aslt 0,0,0 - server 2.0.0 - request_policy:all_nodes,response_policy:all_succeeded Changes settings of this process.
dbsize 1 rF 0,0,0 keyspace server 1.0.0 - request_policy:all_shards,response_policy:agg_sum Counts the keys of the database.
debug -2 aslt 0,0,0 - server 1.0.0 - - Helps to test clients.
flushdb -1 w 0,0,0 keyspace,dangerous server 1.0.0 - request_policy:all_shards,response_policy:all_succeeded Deletes all keys of the database.
flushall -1 w 0,0,0 keyspace,dangerous server 1.0.0 - request_policy:all_shards,response_policy:all_succeeded Deletes all keys of all databases.
swapdb 3 wF 0,0,0 keyspace,dangerous server 4.0.0 - - Exchanges the keys of two databases.
time 1 ltF 0,0,0 - server 2.6.0 - nondeterministic_output Gives the time of the index.
info -1 lt 0,0,0 dangerous server 1.0.0 - nondeterministic_output,request_policy:all_shards,response_policy:special Gives figures of the server.
lastsave 1 ltF 0,0,0 admin,dangerous server 1.0.0 - nondeterministic_output Gives the time of the last SAVE or BGSAVE.
latency -2 - 0,0,0 - server 2.8.13 - - How long events took.
latency|doctor 2 aslt 0,0,0 - server 2.8.13 - nondeterministic_output,request_policy:all_nodes,response_policy:special Explains what was measured.
latency|graph 3 aslt 0,0,0 - server 2.8.13 - nondeterministic_output,request_policy:all_nodes,response_policy:special Refused: latency is not drawn.
latency|help 2 lt 0,0,0 - server 2.8.13 - - Explains the subcommands.
latency|histogram -2 aslt 0,0,0 - server 7.0.0 - nondeterministic_output,request_policy:all_nodes,response_policy:special Gives distributions of the time that commands took.
latency|history 3 aslt 0,0,0 - server 2.8.13 - nondeterministic_output,request_policy:all_nodes,response_policy:special Gives the measured times of an event.
latency|latest 2 aslt 0,0,0 - server 2.8.13 - nondeterministic_output,request_policy:all_nodes,response_policy:special Gives the last measured time of each event.
latency|reset -2 aslt 0,0,0 - server 2.8.13 - request_policy:all_nodes,response_policy:all_succeeded Forgets measured times.
memory -2 - 0,0,0 - server 4.0.0 - - How memory is used.
memory|doctor 2 - 0,0,0 - server 4.0.0 - nondeterministic_output,request_policy:all_shards,response_policy:special Explains how memory is used.
memory|help 2 lt 0,0,0 - server 4.0.0 - - Explains the subcommands.
memory|malloc-stats 2 - 0,0,0 - server 4.0.0 - nondeterministic_output,request_policy:all_shards,response_policy:special Gives figures of the allocator.
memory|purge 2 - 0,0,0 - server 4.0.0 - request_policy:all_shards,response_policy:all_succeeded Accepted: the allocator gives memory back by itself.
memory|stats 2 - 0,0,0 - server 4.0.0 - nondeterministic_output,request_policy:all_shards,response_policy:special Gives how much memory is used for what.
memory|usage -3 r 2,2,1 - server 4.0.0 RO@2:0,1,0 - Gives the bytes that a key takes.
monitor 1 aslt 0,0,0 - server 1.0.0 - - Shows all commands of all clients as they come.
role 1 sltF 0,0,0 admin,dangerous server 2.8.12 - - Tells that writes are taken here.
replicaof 3 astA 0,0,0 - server 5.0.0 - - Refused: an index is replicated by its own log.
slaveof 3 astA 0,0,0 - server 1.0.0 - - Refused: an index is replicated by its own log.
save 1 asAN 0,0,0 - server 1.0.0 - - Accepted: what was answered is kept by the log.
bgsave -1 asA 0,0,0 - server 1.0.0 - - Accepted: what was answered is kept by the log.
bgrewriteaof 1 asA 0,0,0 - server 1.0.0 - - Accepted: the log is shortened by itself.
shutdown -1 asltNB 0,0,0 - server 1.0.0 - - Ends the process.
slowlog -2 - 0,0,0 - server 2.2.12 - - Commands that took long.
slowlog|get -2 alt 0,0,0 - server 2.2.12 - request_policy:all_nodes,nondeterministic_output Gives the last commands that took long.
slowlog|help 2 lt 0,0,0 - server 6.2.0 - - Explains the subcommands.
slowlog|len 2 alt 0,0,0 - server 2.2.12 - request_policy:all_nodes,response_policy:agg_sum,nondeterministic_output Counts the entries.
slowlog|reset 2 alt 0,0,0 - server 2.2.12 - request_policy:all_nodes,response_policy:all_succeeded Deletes the entries.
acl -2 - 0,0,0 - server 6.0.0 - - Who may do what.
acl|cat -2 slt 0,0,0 - server 6.0.0 - - Lists the categories of commands, or the commands of one.
acl|deluser -3 aslt 0,0,0 - server 6.0.0 - - Deletes users.
acl|dryrun -4 aslt 0,0,0 - server 7.0.0 - - Tells whether a user may run a command.
acl|genpass -2 slt 0,0,0 - server 6.0.0 - - Makes a random password.
acl|getuser 3 aslt 0,0,0 - server 6.0.0 - - Gives the rules of a user.
acl|help 2 lt 0,0,0 - server 6.0.0 - - Explains the subcommands.
acl|list 2 aslt 0,0,0 - server 6.0.0 - - Lists the users with their rules.
acl|load 2 aslt 0,0,0 - server 6.0.0 - - Refused: the door has no file of users.
acl|log -2 aslt 0,0,0 - server 6.0.0 - - Lists what was refused.
acl|save 2 aslt 0,0,0 - server 6.0.0 - - Refused: the door has no file of users.
acl|setuser -3 aslt 0,0,0 - server 6.0.0 - - Creates a user or changes its rules.
acl|users 2 aslt 0,0,0 - server 6.0.0 - - Lists the names of the users.
acl|whoami 2 slt 0,0,0 - server 6.0.0 - - Gives the name of this connection's user.
publish 3 pltF 0,0,0 - pubsub 2.0.0 - - Sends a message to a channel.
spublish 3 pltF 1,1,1 - pubsub 7.0.0 not_key@1:0,1,0 - Sends a message to a channel of a shard.
subscribe -2 pslt 0,0,0 - pubsub 2.0.0 - - Listens to channels.
unsubscribe -1 pslt 0,0,0 - pubsub 2.0.0 - - Listens to channels no longer.
psubscribe -2 pslt 0,0,0 - pubsub 2.0.0 - - Listens to channels whose names match patterns.
punsubscribe -1 pslt 0,0,0 - pubsub 2.0.0 - - Listens to patterns no longer.
ssubscribe -2 pslt 1,-1,1 - pubsub 7.0.0 not_key@1:-1,1,0 - Listens to channels of a shard.
sunsubscribe -1 pslt 1,-1,1 - pubsub 7.0.0 not_key@1:-1,1,0 - Listens to channels of a shard no longer.
pubsub -2 - 0,0,0 - pubsub 2.8.0 - - What is known of channels.
pubsub|channels -2 plt 0,0,0 - pubsub 2.8.0 - - Lists channels with subscribers.
pubsub|help 2 lt 0,0,0 - pubsub 6.2.0 - - Explains the subcommands.
pubsub|numpat 2 plt 0,0,0 - pubsub 2.8.0 - - Counts the patterns that clients listen to.
pubsub|numsub -2 plt 0,0,0 - pubsub 2.8.0 - - Counts the subscribers of channels.
pubsub|shardchannels -2 plt 0,0,0 - pubsub 7.0.0 - - Lists channels of shards with subscribers.
pubsub|shardnumsub -2 plt 0,0,0 - pubsub 7.0.0 - - Counts the subscribers of channels of shards.
eval -3 stMnv 0,0,0 scripting scripting 2.6.0 RW.access.update@2#0,1,1 - Runs a Lua script.
eval_ro -3 rstMnv 0,0,0 scripting,!read scripting 7.0.0 RO.access@2#0,1,1 - Runs a Lua script that only reads.
evalsha -3 stMnv 0,0,0 scripting scripting 2.6.0 RW.access.update@2#0,1,1 - Runs a Lua script by its SHA-1.
evalsha_ro -3 rstMnv 0,0,0 scripting,!read scripting 7.0.0 RO.access@2#0,1,1 - Runs a Lua script that only reads, by its SHA-1.
script -2 - 0,0,0 - scripting 2.6.0 - - Lua scripts that are kept.
script|debug 3 s 0,0,0 scripting scripting 3.2.0 - - Refused: scripts cannot be debugged step by step.
script|exists -3 s 0,0,0 scripting scripting 2.6.0 - request_policy:all_shards,response_policy:agg_logical_and Tells which scripts are kept.
script|flush -2 s 0,0,0 scripting scripting 2.6.0 - request_policy:all_nodes,response_policy:all_succeeded Forgets all scripts.
script|help 2 lt 0,0,0 scripting scripting 5.0.0 - - Explains the subcommands.
script|kill 2 sB 0,0,0 scripting scripting 2.6.0 - request_policy:all_shards,response_policy:one_succeeded Ends the script that runs.
script|load 3 st 0,0,0 scripting scripting 2.6.0 - request_policy:all_nodes,response_policy:all_succeeded Keeps a script and gives its SHA-1.
fcall -3 stMnv 0,0,0 scripting scripting 7.0.0 RW.access.update@2#0,1,1 - Runs a function.
fcall_ro -3 rstMnv 0,0,0 scripting,!read scripting 7.0.0 RO.access@2#0,1,1 - Runs a function that only reads.
function -2 - 0,0,0 - scripting 7.0.0 - - Libraries of functions.
function|delete 3 ws 0,0,0 scripting scripting 7.0.0 - request_policy:all_shards,response_policy:all_succeeded Deletes a library.
function|dump 2 s 0,0,0 scripting scripting 7.0.0 - - Gives all libraries as bytes.
function|flush -2 ws 0,0,0 scripting scripting 7.0.0 - request_policy:all_shards,response_policy:all_succeeded Deletes all libraries.
function|help 2 lt 0,0,0 scripting scripting 7.0.0 - - Explains the subcommands.
function|kill 2 sB 0,0,0 scripting scripting 7.0.0 - request_policy:all_shards,response_policy:one_succeeded Ends the function that runs.
function|list -2 s 0,0,0 scripting scripting 7.0.0 - nondeterministic_output_order Lists the libraries.
function|load -3 wms 0,0,0 scripting scripting 7.0.0 - request_policy:all_shards,response_policy:all_succeeded Creates a library.
function|restore -3 wms 0,0,0 scripting scripting 7.0.0 - request_policy:all_shards,response_policy:all_succeeded Creates libraries from bytes.
function|stats 2 sB 0,0,0 scripting scripting 7.0.0 - nondeterministic_output,request_policy:all_shards,response_policy:special Tells which function runs.
cluster -2 - 0,0,0 - cluster 3.0.0 - - Shards as clients of a cluster see them.
cluster|addslots -3 atA 0,0,0 - cluster 3.0.0 - - Refused: slots belong to shards by a fixed rule.
cluster|addslotsrange -4 atA 0,0,0 - cluster 7.0.0 - - Refused: slots belong to shards by a fixed rule.
cluster|bumpepoch 2 atA 0,0,0 - cluster 3.0.0 - nondeterministic_output Refused: there are no epochs of the configuration.
cluster|count-failure-reports 3 at 0,0,0 - cluster 3.0.0 - nondeterministic_output Counts reports of a node's failure.
cluster|countkeysinslot 3 t 0,0,0 - cluster 3.0.0 - - Counts the keys of a slot.
cluster|delslots -3 atA 0,0,0 - cluster 3.0.0 - - Refused: slots belong to shards by a fixed rule.
cluster|delslotsrange -4 atA 0,0,0 - cluster 7.0.0 - - Refused: slots belong to shards by a fixed rule.
cluster|failover -2 atA 0,0,0 - cluster 3.0.0 - - Refused: leaders are elected.
cluster|flushslots 2 atA 0,0,0 - cluster 3.0.0 - - Refused: slots belong to shards by a fixed rule.
cluster|forget 3 atA 0,0,0 - cluster 3.0.0 - - Refused: nodes leave when they end.
cluster|getkeysinslot 4 t 0,0,0 - cluster 3.0.0 - nondeterministic_output Lists keys of a slot.
cluster|help 2 lt 0,0,0 - cluster 5.0.0 - - Explains the subcommands.
cluster|info 2 t 0,0,0 - cluster 3.0.0 - nondeterministic_output Describes the cluster.
cluster|keyslot 3 t 0,0,0 - cluster 3.0.0 - - Gives the slot of a key.
cluster|links 2 t 0,0,0 - cluster 7.0.0 - nondeterministic_output Lists links between nodes.
cluster|meet -4 atA 0,0,0 - cluster 3.0.0 - - Refused: nodes join when they begin.
cluster|myid 2 t 0,0,0 - cluster 3.0.0 - - Gives the id of this node.
cluster|nodes 2 t 0,0,0 - cluster 3.0.0 - nondeterministic_output Lists the nodes as text.
cluster|replicas 3 at 0,0,0 - cluster 5.0.0 - nondeterministic_output Lists the replicas of a node.
cluster|replicate 3 atA 0,0,0 - cluster 3.0.0 - - Refused: roles are decided by elections.
cluster|reset -2 ast 0,0,0 - cluster 3.0.0 - - Refused: a node leaves when it ends.
cluster|saveconfig 2 atA 0,0,0 - cluster 3.0.0 - - Accepted: nothing has to be saved.
cluster|set-config-epoch 3 atA 0,0,0 - cluster 3.0.0 - - Refused: there are no epochs of the configuration.
cluster|setslot -4 atA 0,0,0 - cluster 3.0.0 - - Refused: slots belong to shards by a fixed rule.
cluster|shards 2 t 0,0,0 - cluster 7.0.0 - nondeterministic_output Lists the shards and their nodes.
cluster|slaves 3 at 0,0,0 - cluster 3.0.0 - nondeterministic_output Lists the replicas of a node; the old name.
cluster|slots 2 t 0,0,0 - cluster 3.0.0 - nondeterministic_output Lists ranges of slots and their nodes.
asking 1 F 0,0,0 connection cluster 3.0.0 - - Accepted: slots do not move between nodes.
readonly 1 ltF 0,0,0 connection cluster 3.0.0 - - Accepted: reads are answered by any node.
readwrite 1 ltF 0,0,0 connection cluster 3.0.0 - - Ends READONLY.
`
