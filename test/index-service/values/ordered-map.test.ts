import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import test from 'node:test'
import { encodeTuple, OrderedMap } from '../../../src/index-service/index.ts'
import { Random } from '../../../src/runtime/index.ts'
import { NaiveMap } from './naive-map.ts'

const byValue = (one: number, other: number): number => one - other
const byText = (one: string, other: string): number => (one < other ? -1 : Number(one > other))

/** How many entries each leaf has. Checks links and bounds of sizes on the way. */
function leafSizes(map: OrderedMap<number, unknown>): number[] {
  const sizes: number[] = []
  let { leaf } = map.gapAtEnd(false)
  assert.equal(leaf.previous, undefined)
  for (;;) {
    sizes.push(leaf.keys.length)
    assert.equal(leaf.values.length, leaf.keys.length)
    if (leaf.next === undefined) break
    assert.ok(leaf.keys.length >= 24 && leaf.keys.length <= 64, `a leaf of ${leaf.keys.length}`)
    assert.equal(leaf.next.previous, leaf)
    leaf = leaf.next
  }
  assert.equal(leaf, map.gapAtEnd(true).leaf)
  return sizes
}

/** The keys of a map of numbers, by each way to come to them. */
function checkWhole(map: OrderedMap<number, unknown>, keys: readonly number[]): void {
  assert.equal(map.size, keys.length)
  assert.equal(
    leafSizes(map).reduce((sum, size) => sum + size, 0),
    keys.length,
  )
  assert.deepEqual(
    Array.from(map, ([key]) => key),
    keys,
  )
  assert.deepEqual(Array.from(map.entries({ reverse: true }), ([key]) => key).reverse(), keys)
  for (const [rank, key] of keys.entries()) {
    if (map.rankOf(key) !== rank || map.at(rank)?.[0] !== key || !map.has(key)) assert.fail(`${key} is not at ${rank}`)
  }
}

test('an empty map has nothing', () => {
  const map = new OrderedMap<number, string>(byValue)
  for (let round = 0; round < 2; round += 1) {
    assert.deepEqual([map.size, map.get(1), map.has(1), map.delete(1), map.rankOf(1)], [0, undefined, false, false, 0])
    assert.deepEqual([map.first(), map.last(), map.at(0), [...map]], [undefined, undefined, undefined, []])
    for (const reverse of [false, true]) {
      assert.equal(map.cursor({ reverse }).next(), false)
      assert.equal(map.cursor({ reverse, from: 3 }).next(), false)
    }
    map.set(1, 'one')
    assert.deepEqual(
      [map.first(), map.last()],
      [
        [1, 'one'],
        [1, 'one'],
      ],
    )
    if (round === 0) map.delete(1)
    else map.clear()
  }
  assert.equal(map.size, 0)
})

test('ranks that are not there have no entry', () => {
  const map = new OrderedMap<number, number>(byValue)
  for (let key = 0; key < 1000; key += 1) map.set(key, -key)
  for (const rank of [-1, 1000, Number.NaN, Number.POSITIVE_INFINITY]) assert.equal(map.at(rank), undefined)
  assert.deepEqual(
    [map.at(0), map.at(999)],
    [
      [0, -0],
      [999, -999],
    ],
  )
})

test('undefined is a value, and a key that is set again keeps its place', () => {
  const map = new OrderedMap<string, unknown>((one, other) => byText(one.toLowerCase(), other.toLowerCase()))
  assert.equal(map.set('a', undefined), true)
  assert.deepEqual([map.has('a'), map.get('a'), map.size], [true, undefined, 1])
  assert.equal(map.set('A', 2), false)
  assert.deepEqual([...map], [['a', 2]])
})

/** Random operations on few keys, in phases that grow and shrink the map, each compared with a naive one. */
function program<Key>(seed: number, keyOf: (number: number) => Key, compare: (one: Key, other: Key) => number): void {
  const random = new Random(seed)
  const map = new OrderedMap<Key, number>(compare)
  const naive = new NaiveMap<Key, number>(compare)
  for (let step = 0; step < 2400; step += 1) {
    const key = keyOf(random.below(1500))
    const isGrowing = step % 1200 < 700
    if (random.below(10) < (isGrowing ? 8 : 2)) assert.equal(map.set(key, step), naive.set(key, step))
    else assert.equal(map.delete(key), naive.delete(key))
    const other = keyOf(random.below(1500))
    assert.equal(map.get(other), naive.get(other))
    assert.equal(map.rankOf(other), naive.rankOf(other))
    const rank = random.below(naive.entries.length + 2)
    assert.deepEqual(map.at(rank), naive.entries[rank])
    assert.equal(map.size, naive.entries.length)
    if (step % 40 > 0) continue
    assert.deepEqual([...map], naive.entries)
    assert.deepEqual([map.first(), map.last()], [naive.entries[0], naive.entries.at(-1)])
    for (const isInclusive of [true, false])
      for (const reverse of [true, false]) {
        const walk = { from: other, isInclusive, reverse }
        assert.deepEqual([...map.entries(walk)], naive.walk(walk))
      }
  }
}

test('random programs do what they do on a sorted array: numbers', () => {
  for (const seed of [1, 2]) program(seed, (number) => number / 3, byValue)
})

test('random programs do what they do on a sorted array: text', () => {
  program(4, (number) => `key ${number}`, byText)
})

test('random programs do what they do on a sorted array: keys of tuples', () => {
  program(5, (number) => encodeTuple(['user', number % 7, String(number)]), Buffer.compare)
})

/** A permutation of the numbers below `count`. */
function shuffled(count: number, random: Random): number[] {
  const numbers = Array.from({ length: count }, (_, index) => index)
  for (let left = count; left > 1; left -= 1) {
    const index = random.below(left)
    const last = numbers[left - 1]!
    numbers[left - 1] = numbers[index]!
    numbers[index] = last
  }
  return numbers
}

test('tens of thousands of keys come and go in any order', () => {
  const random = new Random(6)
  const count = 30_000
  const ascending = Array.from({ length: count }, (_, index) => index)
  const orders = [ascending, ascending.toReversed(), shuffled(count, random)]
  for (const coming of orders)
    for (const going of orders) {
      const map = new OrderedMap<number, number>(byValue)
      for (const key of coming) map.set(key, key)
      checkWhole(map, ascending)
      for (const [index, left] of [count / 2, 300, 1, 0].entries()) {
        const gone = [0, count / 2, count - 300, count - 1][index]!
        for (const key of going.slice(gone, count - left)) assert.equal(map.delete(key), true)
        checkWhole(map, going.slice(count - left).sort(byValue))
      }
    }
})

test('keys in ascending order fill leaves, and deleted ones leave no leaves behind', () => {
  const map = new OrderedMap<number, number>(byValue)
  for (let key = 0; key < 64 * 200 + 1; key += 1) map.set(key, key)
  assert.deepEqual(leafSizes(map), [...Array.from({ length: 200 }, () => 64), 1])
  for (let key = 0; key < 64 * 200; key += 1) if (key % 100 !== 0) map.delete(key)
  assert.equal(map.size, 129)
  assert.ok(leafSizes(map).length <= 129 / 24 + 1)
})

test('the last keys come and go as in a queue', () => {
  const map = new OrderedMap<number, number>(byValue)
  for (let key = 0; key < 20_000; key += 1) {
    map.set(key, key)
    if (key >= 500) assert.equal(map.delete(map.first()![0]), true)
    if (key % 1000 === 999)
      checkWhole(
        map,
        Array.from({ length: 500 }, (_, index) => key - 499 + index),
      )
  }
})

test('the last key comes, goes and comes back at each size', () => {
  const map = new OrderedMap<number, number>(byValue)
  for (let key = 0; key < 64 * 64 * 3; key += 1) {
    map.set(key, key)
    assert.equal(map.delete(key), true)
    assert.equal(map.set(key, key), true)
  }
  checkWhole(map, [...Array(64 * 64 * 3).keys()])
})

test('the same operations give the same leaves', () => {
  const run = (): number[] => {
    const random = new Random(7)
    const map = new OrderedMap<number, unknown>(byValue)
    for (let step = 0; step < 20_000; step += 1)
      if (random.below(3) === 0) map.delete(random.below(5000))
      else map.set(random.below(5000), {})
    return leafSizes(map)
  }
  assert.deepEqual(run(), run())
})

test('a comparison that throws changes nothing', () => {
  let comparisonsLeft = Number.POSITIVE_INFINITY
  const map = new OrderedMap<number, number>((one, other) => {
    comparisonsLeft -= 1
    if (comparisonsLeft < 0) throw new Error('incomparable')
    return one - other
  })
  for (let key = 0; key < 10_000; key += 2) map.set(key, key)
  const throwsAfter = (comparisons: number, operation: () => void): boolean => {
    comparisonsLeft = comparisons
    try {
      operation()
      return false
    } catch (error) {
      assert.equal((error as Error).message, 'incomparable')
      return true
    } finally {
      comparisonsLeft = Number.POSITIVE_INFINITY
    }
  }
  for (const operation of [() => map.set(5001, 0), () => map.delete(5000), () => map.set(5000, 1)]) {
    const before = [...map]
    let comparisons = 0
    for (; throwsAfter(comparisons, operation); comparisons += 1) assert.deepEqual([...map], before)
    assert.ok(comparisons > 10, `${comparisons}`)
    assert.notDeepEqual([...map], before)
  }
})

test('a walk gives what is there all the time exactly once, and no key twice, while the map changes', () => {
  for (const reverse of [false, true]) {
    const random = new Random(8)
    const map = new OrderedMap<number, number>(byValue)
    for (let key = 0; key < 6000; key += 3) map.set(key, key)
    const given: number[] = []
    const cursor = map.cursor({ reverse })
    while (cursor.next()) {
      given.push(cursor.key)
      assert.equal(cursor.value, cursor.key)
      for (let change = 0; change < random.below(4); change += 1) {
        const key = random.below(6000)
        if (key % 3 === 1) map.set(key, key)
        if (key % 3 === 2) map.delete(key - 1)
      }
      // The key itself goes and comes back.
      if (cursor.key % 5 === 0) map.delete(cursor.key)
      if (cursor.key % 10 === 0) map.set(cursor.key, cursor.key)
    }
    const order = reverse ? given.toReversed() : given
    assert.ok(order.every((key, index) => index === 0 || key > order[index - 1]!))
    assert.equal(given.filter((key) => key % 3 === 0).length, 2000)
    assert.ok(given.length > 2000)
  }
})

test('a cursor at the end goes on with keys that come later', () => {
  const map = new OrderedMap<number, string>(byValue)
  const cursor = map.cursor()
  const after = map.cursor({ from: 5, isInclusive: false })
  assert.equal(cursor.next(), false)
  map.set(5, 'five')
  assert.deepEqual([cursor.next(), cursor.key, cursor.value], [true, 5, 'five'])
  assert.deepEqual([cursor.next(), after.next()], [false, false])
  map.set(4, 'four')
  map.set(6, 'six')
  assert.deepEqual([cursor.next(), cursor.key, cursor.next()], [true, 6, false])
  assert.deepEqual([after.next(), after.key, after.next()], [true, 6, false])
})

test('a cursor goes on after the map was cleared', () => {
  const map = new OrderedMap<number, number>(byValue)
  for (let key = 0; key < 100; key += 1) map.set(key, key)
  const cursor = map.cursor({ from: 50 })
  cursor.next()
  map.clear()
  assert.equal(cursor.next(), false)
  for (const key of [49, 50, 51]) map.set(key, key)
  assert.deepEqual([cursor.next(), cursor.key, cursor.next()], [true, 51, false])
})

test('a cursor sees a value that was set after it was made, and keeps the one that it gave', () => {
  const map = new OrderedMap<number, string>(byValue)
  map.set(1, 'old')
  map.set(2, 'old')
  const cursor = map.cursor()
  cursor.next()
  map.set(1, 'new')
  map.set(2, 'new')
  assert.equal(cursor.value, 'old')
  cursor.next()
  assert.equal(cursor.value, 'new')
})

test('an iteration that is left early takes no more steps', () => {
  let compared = 0
  const map = new OrderedMap<number, number>((one, other) => {
    compared += 1
    return one - other
  })
  for (let key = 0; key < 100_000; key += 1) map.set(key, key)
  compared = 0
  const taken: number[] = []
  for (const [key] of map.entries({ from: 50_000 })) {
    taken.push(key)
    if (taken.length === 100) break
  }
  assert.deepEqual(
    taken,
    Array.from({ length: 100 }, (_, index) => 50_000 + index),
  )
  assert.ok(compared < 40, `${compared}`)
})
