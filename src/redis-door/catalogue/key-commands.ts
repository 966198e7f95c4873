/**
 * Commands about keys, a command in a line:
 *
 * `name arity flags first,last,step categories group since keys tips summary`
 *
 * Flags are letters (`command-flags.ts`); keys are explained in `key-specs.ts`; `-` stands for nothing. Categories that
 * follow from flags are left out.
 */
export const keyCommandLines: string = `
del -2 w 1,-1,1 keyspace generic 1.0.0 RM.delete@1:-1,1,0 request_policy:multi_shard,response_policy:agg_sum Deletes keys.
unlink -2 wF 1,-1,1 keyspace generic 4.0.0 RM.delete@1:-1,1,0 request_policy:multi_shard,response_policy:agg_sum Deletes keys.
exists -2 rF 1,-1,1 keyspace generic 1.0.0 RO@1:-1,1,0 request_policy:multi_shard,response_policy:agg_sum Counts which of the keys exist.
touch -2 rF 1,-1,1 keyspace generic 3.2.1 RO@1:-1,1,0 request_policy:multi_shard,response_policy:agg_sum Counts which of the keys exist.
type 2 rF 1,1,1 keyspace generic 1.0.0 RO@1:0,1,0 - Tells what kind of value a key holds.
expire -3 wF 1,1,1 keyspace generic 1.0.0 RW.update@1:0,1,0 - Lets a key expire after some seconds.
pexpire -3 wF 1,1,1 keyspace generic 2.6.0 RW.update@1:0,1,0 - Lets a key expire after some milliseconds.
expireat -3 wF 1,1,1 keyspace generic 1.2.0 RW.update@1:0,1,0 - Lets a key expire at a time in seconds since 1970.
pexpireat -3 wF 1,1,1 keyspace generic 2.6.0 RW.update@1:0,1,0 - Lets a key expire at a time in milliseconds since 1970.
ttl 2 rF 1,1,1 keyspace generic 1.0.0 RO.access@1:0,1,0 nondeterministic_output Gives the seconds until a key expires.
pttl 2 rF 1,1,1 keyspace generic 2.6.0 RO.access@1:0,1,0 nondeterministic_output Gives the milliseconds until a key expires.
expiretime 2 rF 1,1,1 keyspace generic 7.0.0 RO.access@1:0,1,0 - Gives when a key expires, in seconds since 1970.
pexpiretime 2 rF 1,1,1 keyspace generic 7.0.0 RO.access@1:0,1,0 - Gives when a key expires, in milliseconds since 1970.
persist 2 wF 1,1,1 keyspace generic 2.2.0 RW.update@1:0,1,0 - Lets a key never expire.
countkeysinslot 2 r 0,0,0 keyspace generic 1.0.0 - - Counts the keys of a slot, as CLUSTER COUNTKEYSINSLOT.
getkeysinslot 3 r 0,0,0 keyspace generic 1.0.0 - - Lists keys of a slot, as CLUSTER GETKEYSINSLOT.
range -3 r 0,0,0 keyspace generic 1.0.0 - request_policy:all_shards Lists keys in their order, with what they hold.
keys 2 r 0,0,0 keyspace,dangerous generic 1.0.0 - request_policy:all_shards,nondeterministic_output_order Lists all keys that match a pattern.
scan -2 r 0,0,0 keyspace generic 2.8.0 - nondeterministic_output,request_policy:special Lists keys, some at a time.
randomkey 1 r 0,0,0 keyspace generic 1.0.0 - request_policy:all_shards,nondeterministic_output Gives a key at random.
rename 3 w 1,2,1 keyspace generic 1.0.0 RW.access.delete@1:0,1,0/OW.update@2:0,1,0 - Renames a key, and overwrites what had the new name.
renamenx 3 wF 1,2,1 keyspace generic 1.0.0 RW.access.delete@1:0,1,0/OW.insert@2:0,1,0 - Renames a key if the new name is free.
copy -3 wm 1,2,1 keyspace generic 6.2.0 RO.access@1:0,1,0/OW.update@2:0,1,0 - Copies the value of a key to another key.
move 3 wF 1,1,1 keyspace generic 1.0.0 RW.access.update@1:0,1,0 - Moves a key to another database.
dump 2 r 1,1,1 keyspace generic 2.6.0 RO.access@1:0,1,0 nondeterministic_output Gives the value of a key as bytes for RESTORE.
restore -4 wm 1,1,1 keyspace,dangerous generic 2.6.0 OW.update@1:0,1,0 - Creates a key from the bytes of DUMP.
sort -2 wmv 1,1,1 set,sortedset,list,dangerous generic 1.0.0 RO.access@1:0,1,0/RO.access@?/OW.update@? - Sorts a list, set or sorted set, and may store the result.
sort_ro -2 rv 1,1,1 set,sortedset,list,dangerous generic 7.0.0 RO.access@1:0,1,0/RO.access@? - Sorts a list, set or sorted set.
object -2 - 0,0,0 - generic 2.2.3 - - How a value is kept.
object|encoding 3 r 2,2,1 keyspace generic 2.2.3 RO@2:0,1,0 nondeterministic_output Gives the encoding that Redis would use for a value.
object|freq 3 r 2,2,1 keyspace generic 4.0.0 RO@2:0,1,0 nondeterministic_output Refused: the index keeps no count of how often a key is used.
object|help 2 lt 0,0,0 keyspace generic 6.2.0 - - Explains the subcommands.
object|idletime 3 r 2,2,1 keyspace generic 2.2.3 RO@2:0,1,0 nondeterministic_output Answers 0: the index does not keep when a key was last used.
object|refcount 3 r 2,2,1 keyspace generic 2.2.3 RO@2:0,1,0 nondeterministic_output Answers 1: each value has one owner.
wait 3 s 0,0,0 connection generic 3.0.0 - request_policy:all_shards,response_policy:agg_min Waits until replicas have the writes of this connection.
get 2 rF 1,1,1 string string 1.0.0 RO.access@1:0,1,0 - Gives the value of a string.
set -3 wm 1,1,1 string string 1.0.0 RW.access.update.variable_flags@1:0,1,0 - Sets a string, whatever the key held before.
setnx 3 wmF 1,1,1 string string 1.0.0 OW.insert@1:0,1,0 - Sets a string if the key does not exist.
setex 4 wm 1,1,1 string string 2.0.0 OW.update@1:0,1,0 - Sets a string and its time to live in seconds.
psetex 4 wm 1,1,1 string string 2.6.0 OW.update@1:0,1,0 - Sets a string and its time to live in milliseconds.
getset 3 wmF 1,1,1 string string 1.0.0 RW.access.update@1:0,1,0 - Sets a string and gives the value before.
getdel 2 wF 1,1,1 string string 6.2.0 RW.access.delete@1:0,1,0 - Gives the value of a string and deletes the key.
getex -2 wF 1,1,1 string string 6.2.0 RW.access.update@1:0,1,0 - Gives the value of a string and changes when it expires.
mget -2 rF 1,-1,1 string string 1.0.0 RO.access@1:-1,1,0 request_policy:multi_shard Gives the values of several strings.
mset -3 wm 1,-1,2 string string 1.0.1 OW.update@1:-1,2,0 request_policy:multi_shard,response_policy:all_succeeded Sets several strings at once.
msetnx -3 wm 1,-1,2 string string 1.0.1 OW.insert@1:-1,2,0 request_policy:multi_shard,response_policy:agg_min Sets several strings at once if none of the keys exists.
append 3 wmF 1,1,1 string string 2.0.0 RW.insert@1:0,1,0 - Appends bytes to a string.
strlen 2 rF 1,1,1 string string 2.2.0 RO@1:0,1,0 - Gives the length of a string in bytes.
incr 2 wmF 1,1,1 string string 1.0.0 RW.access.update@1:0,1,0 - Adds one to the integer in a string.
decr 2 wmF 1,1,1 string string 1.0.0 RW.access.update@1:0,1,0 - Subtracts one from the integer in a string.
incrby 3 wmF 1,1,1 string string 1.0.0 RW.access.update@1:0,1,0 - Adds to the integer in a string.
decrby 3 wmF 1,1,1 string string 1.0.0 RW.access.update@1:0,1,0 - Subtracts from the integer in a string.
incrbyfloat 3 wmF 1,1,1 string string 2.6.0 RW.access.update@1:0,1,0 - Adds to the decimal number in a string.
getrange 4 r 1,1,1 string string 2.4.0 RO.access@1:0,1,0 - Gives part of a string.
substr 4 r 1,1,1 string string 1.0.0 RO.access@1:0,1,0 - Gives part of a string; the old name of GETRANGE.
setrange 4 wm 1,1,1 string string 2.2.0 RW.update@1:0,1,0 - Overwrites part of a string.
lcs -3 r 1,2,1 string string 7.0.0 RO.access@1:1,1,0 - Finds the longest common subsequence of two strings.
setbit 4 wm 1,1,1 bitmap bitmap 2.2.0 RW.access.update@1:0,1,0 - Sets or clears a bit of a string, and gives what it was.
getbit 3 rF 1,1,1 bitmap bitmap 2.2.0 RO.access@1:0,1,0 - Gives a bit of a string.
bitcount -2 r 1,1,1 bitmap bitmap 2.6.0 RO.access@1:0,1,0 - Counts the bits that are set in a string.
bitpos -3 r 1,1,1 bitmap bitmap 2.8.7 RO.access@1:0,1,0 - Finds the first bit of a string that is set, or that is clear.
bitop -4 wm 2,-1,1 bitmap bitmap 2.6.0 OW.update@2:0,1,0/RO.access@3:-1,1,0 - Combines strings bit by bit and stores the result.
bitfield -2 wm 1,1,1 bitmap bitmap 3.2.0 RW.access.update.variable_flags@1:0,1,0 - Reads and changes integers of any width in a string.
bitfield_ro -2 rF 1,1,1 bitmap bitmap 6.0.0 RO.access@1:0,1,0 - Reads integers of any width in a string.
hset -4 wmF 1,1,1 hash hash 2.0.0 RW.update@1:0,1,0 - Sets fields of a hash.
hmset -4 wmF 1,1,1 hash hash 2.0.0 RW.update@1:0,1,0 - Sets fields of a hash; the old form of HSET.
hsetnx 4 wmF 1,1,1 hash hash 2.0.0 RW.insert@1:0,1,0 - Sets a field of a hash if it does not exist.
hget 3 rF 1,1,1 hash hash 2.0.0 RO.access@1:0,1,0 - Gives the value of a field.
hmget -3 rF 1,1,1 hash hash 2.0.0 RO.access@1:0,1,0 - Gives the values of several fields.
hdel -3 wF 1,1,1 hash hash 2.0.0 RW.delete@1:0,1,0 - Deletes fields of a hash.
hlen 2 rF 1,1,1 hash hash 2.0.0 RO@1:0,1,0 - Counts the fields of a hash.
hstrlen 3 rF 1,1,1 hash hash 3.2.0 RO@1:0,1,0 - Gives the length of a field's value.
hexists 3 rF 1,1,1 hash hash 2.0.0 RO@1:0,1,0 - Tells whether a hash has a field.
hgetall 2 r 1,1,1 hash hash 2.0.0 RO.access@1:0,1,0 nondeterministic_output_order Gives all fields of a hash with their values.
hkeys 2 r 1,1,1 hash hash 2.0.0 RO.access@1:0,1,0 nondeterministic_output_order Lists the fields of a hash.
hvals 2 r 1,1,1 hash hash 2.0.0 RO.access@1:0,1,0 nondeterministic_output_order Lists the values of a hash.
hincrby 4 wmF 1,1,1 hash hash 2.0.0 RW.access.update@1:0,1,0 - Adds to the integer in a field.
hincrbyfloat 4 wmF 1,1,1 hash hash 2.6.0 RW.access.update@1:0,1,0 - Adds to the decimal number in a field.
hrandfield -2 r 1,1,1 hash hash 6.2.0 RO.access@1:0,1,0 nondeterministic_output Gives fields of a hash at random.
hscan -3 r 1,1,1 hash hash 2.8.0 RO.access@1:0,1,0 nondeterministic_output Lists fields and values of a hash, some at a time.
lpush -3 wmF 1,1,1 list list 1.0.0 RW.insert@1:0,1,0 - Puts elements before the first one of a list.
rpush -3 wmF 1,1,1 list list 1.0.0 RW.insert@1:0,1,0 - Puts elements behind the last one of a list.
lpushx -3 wmF 1,1,1 list list 2.2.0 RW.insert@1:0,1,0 - Puts elements before the first one of a list that exists.
rpushx -3 wmF 1,1,1 list list 2.2.0 RW.insert@1:0,1,0 - Puts elements behind the last one of a list that exists.
lpop -2 wF 1,1,1 list list 1.0.0 RW.access.delete@1:0,1,0 - Removes the first elements of a list and gives them.
rpop -2 wF 1,1,1 list list 1.0.0 RW.access.delete@1:0,1,0 - Removes the last elements of a list and gives them.
llen 2 rF 1,1,1 list list 1.0.0 RO@1:0,1,0 - Counts the elements of a list.
lindex 3 r 1,1,1 list list 1.0.0 RO.access@1:0,1,0 - Gives the element at a position.
lset 4 wm 1,1,1 list list 1.0.0 RW.update@1:0,1,0 - Sets the element at a position.
lrange 4 r 1,1,1 list list 1.0.0 RO.access@1:0,1,0 - Gives the elements of a range of positions.
ltrim 4 w 1,1,1 list list 1.0.0 RW.delete@1:0,1,0 - Removes all elements but those of a range.
lrem 4 w 1,1,1 list list 1.0.0 RW.delete@1:0,1,0 - Removes elements that equal a value.
linsert 5 wm 1,1,1 list list 2.2.0 RW.insert@1:0,1,0 - Inserts an element before or behind another one.
lpos -3 r 1,1,1 list list 6.0.6 RO.access@1:0,1,0 - Finds the positions of elements that equal a value.
rpoplpush 3 wm 1,2,1 list list 1.2.0 RW.access.delete@1:0,1,0/RW.insert@2:0,1,0 - Moves the last element of a list to the head of another one.
lmove 5 wm 1,2,1 list list 6.2.0 RW.access.delete@1:0,1,0/RW.insert@2:0,1,0 - Moves an element from an end of a list to an end of another one.
lmpop -4 wv 0,0,0 list list 7.0.0 RW.access.delete@1#0,1,1 - Removes elements from the first list that has any.
blpop -3 wsb 1,-2,1 list list 2.0.0 RW.access.delete@1:-2,1,0 - Removes the first element of a list; waits for one.
brpop -3 wsb 1,-2,1 list list 2.0.0 RW.access.delete@1:-2,1,0 - Removes the last element of a list; waits for one.
brpoplpush 4 wmsb 1,2,1 list list 2.2.0 RW.access.delete@1:0,1,0/RW.insert@2:0,1,0 - Moves the last element of a list to the head of another one; waits for one.
blmove 6 wmsb 1,2,1 list list 6.2.0 RW.access.delete@1:0,1,0/RW.insert@2:0,1,0 - Moves an element from one list to another; waits for one.
blmpop -5 wbv 0,0,0 list list 7.0.0 RW.access.delete@2#0,1,1 - Removes elements from the first list that has any; waits for one.
sadd -3 wmF 1,1,1 set set 1.0.0 RW.insert@1:0,1,0 - Adds members to a set.
srem -3 wF 1,1,1 set set 1.0.0 RW.delete@1:0,1,0 - Removes members from a set.
smembers 2 r 1,1,1 set set 1.0.0 RO.access@1:0,1,0 nondeterministic_output_order Lists the members of a set.
sismember 3 rF 1,1,1 set set 1.0.0 RO@1:0,1,0 - Tells whether a set has a member.
smismember -3 rF 1,1,1 set set 6.2.0 RO.access@1:0,1,0 - Tells for several members whether a set has them.
scard 2 rF 1,1,1 set set 1.0.0 RO@1:0,1,0 - Counts the members of a set.
spop -2 wF 1,1,1 set set 1.0.0 RW.access.delete@1:0,1,0 nondeterministic_output Removes members at random and gives them.
srandmember -2 r 1,1,1 set set 1.0.0 RO.access@1:0,1,0 nondeterministic_output Gives members at random.
smove 4 wF 1,2,1 set set 1.0.0 RW.access.delete@1:0,1,0/RW.insert@2:0,1,0 - Moves a member from one set to another.
sinter -2 r 1,-1,1 set set 1.0.0 RO.access@1:-1,1,0 nondeterministic_output_order Gives the members that all sets have.
sinterstore -3 wm 1,-1,1 set set 1.0.0 RW.update@1:0,1,0/RO.access@2:-1,1,0 - Stores the members that all sets have.
sintercard -3 rv 0,0,0 set set 7.0.0 RO.access@1#0,1,1 - Counts the members that all sets have.
sunion -2 r 1,-1,1 set set 1.0.0 RO.access@1:-1,1,0 nondeterministic_output_order Gives the members that any of the sets has.
sunionstore -3 wm 1,-1,1 set set 1.0.0 OW.update@1:0,1,0/RO.access@2:-1,1,0 - Stores the members that any of the sets has.
sdiff -2 r 1,-1,1 set set 1.0.0 RO.access@1:-1,1,0 nondeterministic_output_order Gives the members that only the first set has.
sdiffstore -3 wm 1,-1,1 set set 1.0.0 OW.update@1:0,1,0/RO.access@2:-1,1,0 - Stores the members that only the first set has.
sscan -3 r 1,1,1 set set 2.8.0 RO.access@1:0,1,0 nondeterministic_output Lists members of a set, some at a time.
zadd -4 wmF 1,1,1 sortedset sorted-set 1.2.0 RW.update@1:0,1,0 - Adds members with scores, or changes their scores.
zincrby 4 wmF 1,1,1 sortedset sorted-set 1.2.0 RW.access.update@1:0,1,0 - Adds to the score of a member.
zrem -3 wF 1,1,1 sortedset sorted-set 1.2.0 RW.delete@1:0,1,0 - Removes members from a sorted set.
zcard 2 rF 1,1,1 sortedset sorted-set 1.2.0 RO@1:0,1,0 - Counts the members of a sorted set.
zscore 3 rF 1,1,1 sortedset sorted-set 1.2.0 RO.access@1:0,1,0 - Gives the score of a member.
zmscore -3 rF 1,1,1 sortedset sorted-set 6.2.0 RO.access@1:0,1,0 - Gives the scores of several members.
zrank 3 rF 1,1,1 sortedset sorted-set 2.0.0 RO.access@1:0,1,0 - Gives the position of a member, lowest score first.
zrevrank 3 rF 1,1,1 sortedset sorted-set 2.0.0 RO.access@1:0,1,0 - Gives the position of a member, highest score first.
zrandmember -2 r 1,1,1 sortedset sorted-set 6.2.0 RO.access@1:0,1,0 nondeterministic_output Gives members at random.
zscan -3 r 1,1,1 sortedset sorted-set 2.8.0 RO.access@1:0,1,0 nondeterministic_output Lists members and scores, some at a time.
zrange -4 r 1,1,1 sortedset sorted-set 1.2.0 RO.access@1:0,1,0 - Gives members of a range of positions, scores or names.
zrevrange -4 r 1,1,1 sortedset sorted-set 1.2.0 RO.access@1:0,1,0 - Gives members of a range of positions, highest score first.
zrangebyscore -4 r 1,1,1 sortedset sorted-set 1.0.5 RO.access@1:0,1,0 - Gives members of a range of scores.
zrevrangebyscore -4 r 1,1,1 sortedset sorted-set 2.2.0 RO.access@1:0,1,0 - Gives members of a range of scores, highest first.
zrangebylex -4 r 1,1,1 sortedset sorted-set 2.8.9 RO.access@1:0,1,0 - Gives members of a range of names.
zrevrangebylex -4 r 1,1,1 sortedset sorted-set 2.8.9 RO.access@1:0,1,0 - Gives members of a range of names, last one first.
zrangestore -5 wm 1,2,1 sortedset sorted-set 6.2.0 OW.update@1:0,1,0/RO.access@2:0,1,0 - Stores members of a range in another sorted set.
zcount 4 rF 1,1,1 sortedset sorted-set 2.0.0 RO.access@1:0,1,0 - Counts the members of a range of scores.
zlexcount 4 rF 1,1,1 sortedset sorted-set 2.8.9 RO.access@1:0,1,0 - Counts the members of a range of names.
zremrangebyrank 4 w 1,1,1 sortedset sorted-set 2.0.0 RW.delete@1:0,1,0 - Removes the members of a range of positions.
zremrangebyscore 4 w 1,1,1 sortedset sorted-set 1.2.0 RW.delete@1:0,1,0 - Removes the members of a range of scores.
zremrangebylex 4 w 1,1,1 sortedset sorted-set 2.8.9 RW.delete@1:0,1,0 - Removes the members of a range of names.
zpopmin -2 wF 1,1,1 sortedset sorted-set 5.0.0 RW.access.delete@1:0,1,0 - Removes the members with the lowest scores and gives them.
zpopmax -2 wF 1,1,1 sortedset sorted-set 5.0.0 RW.access.delete@1:0,1,0 - Removes the members with the highest scores and gives them.
zmpop -4 wv 0,0,0 sortedset sorted-set 7.0.0 RW.access.delete@1#0,1,1 - Removes members from the first sorted set that has any.
bzpopmin -3 wsbF 1,-2,1 sortedset sorted-set 5.0.0 RW.access.delete@1:-2,1,0 - Removes the member with the lowest score; waits for one.
bzpopmax -3 wsbF 1,-2,1 sortedset sorted-set 5.0.0 RW.access.delete@1:-2,1,0 - Removes the member with the highest score; waits for one.
bzmpop -5 wbv 0,0,0 sortedset sorted-set 7.0.0 RW.access.delete@2#0,1,1 - Removes members from the first sorted set that has any; waits for one.
zunion -3 rv 0,0,0 sortedset sorted-set 6.2.0 RO.access@1#0,1,1 - Gives the members of any of the sorted sets.
zunionstore -4 wmv 1,1,1 sortedset sorted-set 2.0.0 OW.update@1:0,1,0/RO.access@2#0,1,1 - Stores the members of any of the sorted sets.
zinter -3 rv 0,0,0 sortedset sorted-set 6.2.0 RO.access@1#0,1,1 - Gives the members that all sorted sets have.
zinterstore -4 wmv 1,1,1 sortedset sorted-set 2.0.0 OW.update@1:0,1,0/RO.access@2#0,1,1 - Stores the members that all sorted sets have.
zintercard -3 rv 0,0,0 sortedset sorted-set 7.0.0 RO.access@1#0,1,1 - Counts the members that all sorted sets have.
zdiff -3 rv 0,0,0 sortedset sorted-set 6.2.0 RO.access@1#0,1,1 - Gives the members that only the first sorted set has.
zdiffstore -4 wmv 1,1,1 sortedset sorted-set 6.2.0 OW.update@1:0,1,0/RO.access@2#0,1,1 - Stores the members that only the first sorted set has.
xadd -5 wmF 1,1,1 stream stream 5.0.0 RW.update@1:0,1,0 nondeterministic_output Appends an entry to a stream.
xtrim -4 w 1,1,1 stream stream 5.0.0 RW.delete@1:0,1,0 nondeterministic_output Removes the oldest entries of a stream.
xlen 2 rF 1,1,1 stream stream 5.0.0 RO@1:0,1,0 - Counts the entries of a stream.
xrange -4 r 1,1,1 stream stream 5.0.0 RO.access@1:0,1,0 - Gives the entries of a range of ids.
xrevrange -4 r 1,1,1 stream stream 5.0.0 RO.access@1:0,1,0 - Gives the entries of a range of ids, last one first.
xdel -3 wF 1,1,1 stream stream 5.0.0 RW.delete@1:0,1,0 - Removes entries by their ids.
xsetid -3 wmF 1,1,1 stream stream 5.0.0 RW.update@1:0,1,0 - Sets the last id of a stream.
xread -4 rbv 0,0,0 stream stream 5.0.0 RO.access@STREAMS.1:-1,1,2 - Gives entries behind an id; may wait for them.
xreadgroup -7 wbv 0,0,0 stream stream 5.0.0 RO.access@STREAMS.4:-1,1,2 - Gives entries to a consumer of a group; may wait for them.
xgroup -2 - 0,0,0 - stream 5.0.0 - - Groups of consumers.
xgroup|create -5 wm 2,2,1 stream stream 5.0.0 RW.insert@2:0,1,0 - Creates a group.
xgroup|createconsumer 5 wm 2,2,1 stream stream 6.2.0 RW.insert@2:0,1,0 - Creates a consumer in a group.
xgroup|delconsumer 5 w 2,2,1 stream stream 5.0.0 RW.delete@2:0,1,0 - Deletes a consumer of a group.
xgroup|destroy 4 w 2,2,1 stream stream 5.0.0 RW.delete@2:0,1,0 - Deletes a group.
xgroup|help 2 lt 0,0,0 stream stream 5.0.0 - - Explains the subcommands.
xgroup|setid -5 w 2,2,1 stream stream 5.0.0 RW.update@2:0,1,0 - Sets the last id that was delivered to a group.
xack -4 wF 1,1,1 stream stream 5.0.0 RW.update@1:0,1,0 - Says that entries of a group were worked on.
xpending -3 r 1,1,1 stream stream 5.0.0 RO.access@1:0,1,0 nondeterministic_output Lists the entries that were delivered but not acknowledged.
xclaim -6 wF 1,1,1 stream stream 5.0.0 RW.update@1:0,1,0 nondeterministic_output Gives entries of one consumer to another one.
xautoclaim -6 wF 1,1,1 stream stream 6.2.0 RW.delete@1:0,1,0 nondeterministic_output Gives entries to a consumer that wait for too long.
xinfo -2 - 0,0,0 - stream 5.0.0 - - What is known of a stream.
xinfo|consumers 4 r 2,2,1 stream stream 5.0.0 RO.access@2:0,1,0 nondeterministic_output Lists the consumers of a group.
xinfo|groups 3 r 2,2,1 stream stream 5.0.0 RO.access@2:0,1,0 - Lists the groups of a stream.
xinfo|help 2 lt 0,0,0 stream stream 5.0.0 - - Explains the subcommands.
xinfo|stream -3 r 2,2,1 stream stream 5.0.0 RO.access@2:0,1,0 - Describes a stream.
geoadd -5 wm 1,1,1 geo geo 3.2.0 RW.update@1:0,1,0 - Adds places with longitude and latitude.
geodist -4 r 1,1,1 geo geo 3.2.0 RO.access@1:0,1,0 - Gives the distance of two places.
geohash -2 r 1,1,1 geo geo 3.2.0 RO.access@1:0,1,0 - Gives places as geohash text.
geopos -2 r 1,1,1 geo geo 3.2.0 RO.access@1:0,1,0 - Gives longitude and latitude of places.
georadius -6 wmv 1,1,1 geo geo 3.2.0 RO.access@1:0,1,0/OW.update@STORE.6:0,1,0/OW.update@STOREDIST.6:0,1,0 - Finds places within a distance of a point, and may store them.
georadius_ro -6 r 1,1,1 geo geo 3.2.10 RO.access@1:0,1,0 - Finds places within a distance of a point.
georadiusbymember -5 wmv 1,1,1 geo geo 3.2.0 RO.access@1:0,1,0/OW.update@STORE.5:0,1,0/OW.update@STOREDIST.5:0,1,0 - Finds places within a distance of a member, and may store them.
georadiusbymember_ro -5 r 1,1,1 geo geo 3.2.10 RO.access@1:0,1,0 - Finds places within a distance of a member.
geosearch -7 r 1,1,1 geo geo 6.2.0 RO.access@1:0,1,0 - Finds places within a circle or a box.
geosearchstore -8 wm 1,2,1 geo geo 6.2.0 OW.update@1:0,1,0/RO.access@2:0,1,0 - Stores the places within a circle or a box.
pfadd -2 wmF 1,1,1 hyperloglog hyperloglog 2.8.9 RW.insert@1:0,1,0 - Adds elements to a HyperLogLog.
pfcount -2 r 1,-1,1 hyperloglog hyperloglog 2.8.9 RW.access@1:-1,1,0 - Estimates how many different elements were added.
pfmerge -2 wm 1,-1,1 hyperloglog hyperloglog 2.8.9 RW.access.insert@1:0,1,0/RO.access@2:-1,1,0 - Merges HyperLogLogs into one.
`
