/** Clients of Redis that Debian has, as programs of their own: redis-cli, redis-benchmark, python3-redis. */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { noPythonRedis, noRedisTools, pythonWithRedis } from './support/debian-programs.ts'
import { openDoor, type TestDoor } from './support/door.ts'

useRuntimeDirectory()

let door: TestDoor
let cluster: TestDoor

before(async () => {
  door = await openDoor()
  cluster = await openDoor({ shards: 4, isCluster: true })
})

after(async () => {
  await cluster[Symbol.asyncDispose]()
  await door[Symbol.asyncDispose]()
})

/** What a program writes; rejects if it fails, with what it has said. Output that is too long would end it. */
async function output(program: string, ...args: readonly (string | number)[]): Promise<string> {
  const options = { maxBuffer: 64 * 2 ** 20, timeout: 120_000 }
  return (await promisify(execFile)(program, args.map(String), options)).stdout
}

const cli = (...args: readonly string[]): Promise<string> => output('redis-cli', '-p', door.port, ...args)

/** What it writes of lines that it is given. */
async function cliFed(lines: string, ...args: readonly string[]): Promise<string> {
  const child = spawn('redis-cli', ['-p', String(door.port), ...args])
  let said = ''
  child.stdout.on('data', (text) => (said += String(text)))
  child.stdin.end(lines)
  await new Promise((resolve) => child.on('close', resolve))
  return said
}

test('redis-cli: commands, errors, RESP3, and lines of its input', { skip: noRedisTools }, async () => {
  assert.equal(await cli('SET', 'cli:a', '1'), 'OK\n')
  assert.equal(await cli('INCRBY', 'cli:a', '41'), '42\n')
  assert.equal(await cli('--no-raw', 'GET', 'cli:none'), '(nil)\n')
  assert.match(await cli('LPUSH', 'cli:a', '1'), /^WRONGTYPE /)
  await cli('HSET', 'cli:hash', 'one', '1', 'two', '2')
  assert.equal(await cli('-3', '--no-raw', 'HGETALL', 'cli:hash'), '1# "one" => "1"\n2# "two" => "2"\n')
  assert.equal(await cliFed('MULTI\nINCR cli:a\nGET cli:a\nEXEC\n'), 'OK\nQUEUED\nQUEUED\n43\n43\n')
  assert.equal(await cli('EVAL', "return redis.call('GET', KEYS[1])", '1', 'cli:a'), '43\n')
})

test('redis-cli: what it does with many keys', { skip: noRedisTools }, async () => {
  const commands = Array.from({ length: 2000 }, (_, at) => `SET pipe:${at} ${'x'.repeat(1 + (at % 50))}\r\n`).join('')
  assert.match(await cliFed(commands, '--pipe'), /errors: 0, replies: 2000/)
  const found = await cli('--scan', '--pattern', 'pipe:*')
  assert.equal(new Set(found.trim().split('\n')).size, 2000)
  assert.match(await cli('--bigkeys'), /Biggest string found .*50 bytes/)
  assert.match(await cli('--memkeys'), /Biggest string found/)
})

test('redis-cli -c follows MOVED, and --cluster tells of all slots', { skip: noRedisTools }, async () => {
  const ask = (...args: readonly string[]): Promise<string> => output('redis-cli', '-p', cluster.port, ...args)
  for (let at = 0; at < 8; at += 1) assert.equal(await ask('-c', 'SET', `cli:${at}`, String(at)), 'OK\n')
  assert.match(await ask('CLUSTER', 'INFO'), /cluster_state:ok/)
  const told = await output('redis-cli', '--cluster', 'info', `127.0.0.1:${cluster.port}`)
  assert.match(told, /8 keys \| 16384 slots/)
  assert.match(await output('redis-cli', '--cluster', 'check', `127.0.0.1:${cluster.port}`), /All 16384 slots covered/)
})

test('redis-benchmark: its own tests, pipelines, and a command', { skip: noRedisTools }, async () => {
  const few = ['-p', String(door.port), '-n', '200', '-c', '20', '-r', '100', '--csv']
  const csv = await output('redis-benchmark', ...few)
  const tests = csv.trim().split('\n').slice(1)
  assert.ok(tests.length >= 19, csv)
  for (const line of tests) assert.match(line, /^"[^"]+","[\d.]+"/)
  assert.match(await output('redis-benchmark', ...few, '-P', '16', '-t', 'set,get'), /"SET",.*\n"GET",/)
  await output('redis-benchmark', ...few, 'INCR', 'bench:counter')
  assert.equal(await cli('GET', 'bench:counter'), '200\n')
})

/** It prints a line where all is well, and a trace of its calls where not. */
const PYTHON = `
import sys, threading, redis
from redis.cluster import RedisCluster
port, cluster_port = int(sys.argv[1]), int(sys.argv[2])
r = redis.Redis(host='127.0.0.1', port=port)
r.flushall()
assert r.set('a', 1, ex=100) and r.incr('a') == 2 and 90 < r.ttl('a') <= 100
assert r.hset('h', mapping={'one': 1, 'two': 2}) == 2 and r.hgetall('h') == {b'one': b'1', b'two': b'2'}
assert r.zadd('z', {'a': 1.5, 'b': 2}) == 2
assert r.zrange('z', 0, -1, withscores=True) == [(b'a', 1.5), (b'b', 2.0)]
with r.pipeline() as pipe:
    assert pipe.set('b', 1).incr('b').get('b').execute() == [True, 2, b'2']
def double(pipe):
    value = int(pipe.get('b'))
    pipe.multi()
    pipe.set('b', value * 2)
assert r.transaction(double, 'b') == [True] and r.get('b') == b'4'
assert r.register_script("return redis.call('GET', KEYS[1])")(keys=['b']) == b'4'
threading.Timer(0.05, lambda: redis.Redis(port=port).rpush('jobs', 'job')).start()
assert r.blpop('jobs', 5) == (b'jobs', b'job')
assert r.xgroup_create('s', 'g', mkstream=True)
id = r.xadd('s', {'f': 'v'})
assert r.xreadgroup('g', 'c', {'s': '>'}) == [[b's', [(id, {b'f': b'v'})]]] and r.xack('s', 'g', id) == 1
p = r.pubsub()
p.subscribe('news')
assert p.get_message(timeout=5)['type'] == 'subscribe'
assert r.publish('news', 'hello') == 1 and p.get_message(timeout=5)['data'] == b'hello'
with r.lock('lock', timeout=10, blocking_timeout=1):
    assert not r.lock('lock', timeout=10, blocking=False).acquire()
assert r.lock('lock', timeout=10).acquire()
for i in range(300): r.set('scan:%d' % i, i)
assert len(set(r.scan_iter('scan:*', count=50))) == 300
assert r.info()['redis_version'].startswith('7.') and r.client_list()
try:
    r.lpush('b', 1)
    raise AssertionError('no error')
except redis.ResponseError as error:
    assert 'WRONGTYPE' in str(error)
rc = RedisCluster(host='127.0.0.1', port=cluster_port)
for i in range(50): rc.set('k%d' % i, i)
assert all(rc.get('k%d' % i) == b'%d' % i for i in range(50))
print('all is well')
`

test('python3-redis: alone and in a cluster', { skip: noPythonRedis }, async () => {
  assert.equal(await output(pythonWithRedis!, '-c', PYTHON, door.port, cluster.port), 'all is well\n')
})
