import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callOf, LoneMachine } from '../support/differential.ts'

/** What the last commands told. */
function toldBy(lone: LoneMachine): string {
  return lone.events
    .splice(0)
    .map(({ db, kind, event, key }) => `${db}:${kind}:${event}:${key}`)
    .join(' ')
}

test('events have the class by which redis.conf selects them', () => {
  const lone = new LoneMachine()
  for (const [command, told] of [
    ['SET a 1 EX 5', '0:n:new:a 0:$:set:a 0:g:expire:a'],
    ['PERSIST a', '0:g:persist:a'],
    ['RPUSH l x', '0:n:new:l 0:l:rpush:l'],
    ['SADD s x', '0:n:new:s 0:s:sadd:s'],
    ['HSET h f v', '0:n:new:h 0:h:hset:h'],
    ['ZADD z 1 x', '0:n:new:z 0:z:zadd:z'],
    ['XADD x 1-1 f v', '0:n:new:x 0:t:xadd:x'],
    ['LPOP l', '0:l:lpop:l 0:g:del:l'],
    ['MOVE a 3', '3:n:new:a 0:g:move_from:a 3:g:move_to:a'],
    ['GET s', ''],
  ]) {
    lone.run(...command!.split(' '))
    assert.equal(toldBy(lone), told, command)
  }
})

test('a key that expires is told once, when it is removed', () => {
  const lone = new LoneMachine()
  lone.runIn(2, 'SET', 'a', '1', 'PX', '10')
  lone.runIn(2, 'SET', 'b', '1', 'PX', '10')
  lone.events.length = 0
  lone.timeMs += 10
  lone.machine.read([callOf(['GET', 'b'])], lone.timeMs)
  assert.equal(toldBy(lone), '', 'a read removes nothing')
  lone.runIn(2, 'INCR', 'b')
  assert.equal(toldBy(lone), '2:x:expired:b 2:n:new:b 2:$:incrby:b')
  lone.apply({ expire: true })
  assert.equal(toldBy(lone), '2:x:expired:a')
  lone.run('SET', 'c', '1', 'PXAT', '1')
  assert.equal(toldBy(lone), '0:n:new:c 0:$:set:c 0:g:expire:c 0:x:expired:c')
})

test('what calls that waited take is told as if they had not, and after a swap by the new number', () => {
  const lone = new LoneMachine()
  lone.apply({ calls: [callOf(['BLMOVE', 'a', 'b', 'LEFT', 'RIGHT', '0'])], waiter: 1 })
  lone.run('LPUSH', 'a', 'x')
  assert.equal(toldBy(lone), '0:n:new:a 0:l:lpush:a 0:n:new:b 0:l:rpush:b 0:l:lpop:a 0:g:del:a')
  lone.run('SWAPDB', '0', '5')
  lone.runIn(5, 'RPOP', 'b')
  assert.equal(toldBy(lone), '5:l:rpop:b 5:g:del:b')
})

test('FLUSHDB, SWAPDB and a snapshot tell nothing', () => {
  const lone = new LoneMachine()
  for (const db of [0, 1]) lone.runIn(db, 'SET', 'a', '1')
  lone.events.length = 0
  const other = lone.restored()
  for (const command of ['SWAPDB 0 1', 'FLUSHDB', 'FLUSHALL']) other.run(...command.split(' '))
  assert.equal(toldBy(other), '')
})
