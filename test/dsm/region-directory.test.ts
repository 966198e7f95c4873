import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Membership } from '../../src/cluster/index.ts'
import { RegionState, RegionTable } from '../../src/dsm/region-table.ts'
import { Space } from '../../src/dsm/space.ts'
import { native } from '../../src/native/index.ts'
import { open } from '../../src/public/index.ts'
import { RemoteMember, until, useRuntimeDirectory } from '../cluster/support.ts'

useRuntimeDirectory()

/** A space with its inside: what the arena has allocated, and the table of regions. */
async function openInside(name: string) {
  const membership = await Membership.enter(name)
  const { arena } = membership
  return {
    space: new Space(membership),
    arena,
    table: new RegionTable(arena.control),
    allocated: () => native.describeMemory(arena.descriptor).allocatedBytes,
  }
}

test('one that exists with other parameters is an error that shows both', async () => {
  await using space = await open('shop')
  await space.openRegion('hits', { size: '64KiB' })
  await assert.rejects(space.openRegion('hits', { size: '128KiB' }), (error: NodeJS.ErrnoException) => {
    assert.equal(error.code, 'ERR_AETHER_REGION_MISMATCH')
    assert.match(
      error.message,
      /exists as \{ size 64 KiB .*coherence hardware.* requested as \{ size 128 KiB .*coherence hardware/,
    )
    return true
  })
  const same = await space.openRegion('hits', { size: 65_536, coherence: 'hardware' })
  assert.equal((await space.openRegion('hits')).size, same.size)
})

test('one that does not exist needs a size', async () => {
  await using space = await open('shop')
  await assert.rejects(space.openRegion('hits'), {
    code: 'ERR_AETHER_REGION_NOT_FOUND',
    region: 'hits',
    message: /pass a size/,
  })
})

test('a region lives as long as its space: closing it, even last, keeps its bytes', async () => {
  await using space = await open('shop')
  {
    await using region = await space.openRegion('hits', { size: 4096 })
    region.int32[0] = 5
  }
  await using again = await space.openRegion('hits')
  assert.equal(again.int32[0], 5)
  assert.deepEqual(space.regions(), [{ name: 'hits', size: 4096 }])
})

test('a killed opener takes no region with it', async () => {
  await using space = await open('shop')
  await using remote = new RemoteMember()
  await remote.call('open', 'shop')
  await remote.call('openRegion', 'hits', { size: 4096 })
  await remote.call('add', 'hits', 0, 3)
  await remote.kill()
  const region = await space.openRegion('hits')
  assert.equal(region.int32[0], 3)
})

test('a deleted region has no name at once, and gives its memory back when nobody has it open', async () => {
  const { space, allocated } = await openInside('shop')
  const before = allocated()
  const region = await space.openRegion('big', { size: '8MiB' })
  assert.ok(allocated() - before >= 2 ** 23)
  const again = await space.openRegion('big')
  await region.delete()
  assert.deepEqual(space.regions(), [])
  again.int32[0] = 4
  assert.equal(region.int32[0], 4)
  const other = await space.openRegion('big', { size: '1MiB' })
  assert.equal(other.int32[0], 0)
  await region.close()
  assert.ok(allocated() - before >= 2 ** 23)
  await again.close()
  assert.ok(allocated() - before < 2 ** 21)
  await again.close()
  await space.close()
})

test('the memory of a deleted region comes back when its last opener is killed', async () => {
  const { space, allocated } = await openInside('shop')
  await using remote = new RemoteMember()
  await remote.call('open', 'shop')
  await remote.call('openRegion', 'big', { size: '8MiB' })
  const region = await space.openRegion('big')
  await region.delete()
  await region.close()
  assert.ok(allocated() >= 2 ** 23)
  await remote.kill()
  await until(() => allocated() < 2 ** 23, 'the survivor to give the memory back')
  await space.close()
})

test('memory that was given back reads as zero to the next region', async () => {
  await using space = await open('shop')
  const first = await space.openRegion('first', { size: 4096 })
  first.uint8.fill(0xff)
  await first.delete()
  await first.close()
  const second = await space.openRegion('second', { size: 4096 })
  assert.ok(second.uint8.every((byte) => byte === 0))
})

test('regions do not overlap, whatever comes and goes', async () => {
  const { space, table } = await openInside('shop')
  const sizes = [1, 4096, 4097, 65_536, 100_000, 1, 12_288]
  const regions = []
  for (const [index, size] of sizes.entries()) regions.push(await space.openRegion(`r${index}`, { size }))
  await regions[1]?.delete()
  await regions[1]?.close()
  await regions[4]?.delete()
  await regions[4]?.close()
  for (const [index, size] of sizes.entries()) await space.openRegion(`s${index}`, { size })
  const extents = table.inState(RegionState.Ready).map((index) => table.read(index))
  extents.sort((a, b) => a.offset - b.offset)
  assert.equal(extents.length, 12)
  for (const [index, extent] of extents.slice(1).entries()) {
    const before = extents[index]
    assert.ok(before !== undefined && before.offset + before.length <= extent.offset)
    assert.equal(extent.length % 4096, 0)
  }
  await space.close()
})

test('asking for more than there is, is an error that says how much there is; nothing is taken', async () => {
  const { space, table, allocated } = await openInside('shop')
  // Looking at a hole of a memory object fills it, so the whole table is looked at before.
  assert.equal(table.inState(RegionState.Free).length, 1024)
  const before = allocated()
  for (const size of ['100TiB', '1000TiB']) {
    await assert.rejects(
      space.openRegion('huge', { size }),
      (error: NodeJS.ErrnoException & { wantedBytes?: number }) => {
        assert.equal(error.code, 'ERR_AETHER_MEMORY_EXHAUSTED')
        assert.match(error.message, /region 'huge' needs \d+ TiB, but .* are available; .*reserve: false/)
        return true
      },
    )
  }
  assert.deepEqual(space.regions(), [])
  assert.equal(table.inState(RegionState.Free).length, 1024)
  assert.equal(allocated(), before)
  const region = await space.openRegion('huge', { size: '100TiB', reserve: false })
  region.view(Int32Array, { byteOffset: 50 * 2 ** 40, length: 1 })[0] = 1
  await space.close()
})

test('where the kernel refuses to reserve, the error says so and nothing is left', async () => {
  const { space, table, allocated } = await openInside('shop')
  // Looking at a hole of a memory object fills it, so the whole table is looked at before.
  assert.equal(table.inState(RegionState.Free).length, 1024)
  const before = allocated()
  // Beyond the largest offset that a file can have.
  await assert.rejects(
    space.openRegion('endless', { size: 2 ** 53 - 4096, reserve: false }).then((region) => region.close()),
    {
      code: /ERR_AETHER_(SYSTEM|MEMORY_EXHAUSTED|INVALID_ARGUMENT)/,
    },
  )
  assert.equal(table.inState(RegionState.Free).length, 1024)
  assert.equal(allocated(), before)
  await space.close()
})

test('a region made sparse is reserved when somebody asks for that', async () => {
  const { space, allocated } = await openInside('shop')
  await space.openRegion('sparse', { size: '4MiB', reserve: false })
  const before = allocated()
  assert.ok(before < 2 ** 22)
  await space.openRegion('sparse', { size: '4MiB', reserve: true })
  assert.ok(allocated() >= before + 2 ** 22 - 4096)
  await space.close()
})

test('what a killed holder of the lock began is undone or finished by the next', async () => {
  const { space, table, arena, allocated } = await openInside('shop')
  const half = {
    size: 2 ** 22,
    length: 2 ** 22,
    coherence: 1,
    pageSize: 4096,
    placement: 1,
    reserved: true,
    grows: false,
  }
  const creating = table.gapFor(half.length)
  table.write(7, { ...half, ...creating, name: 'creating' })
  native.resizeMemory(arena.descriptor, creating.offset + creating.length)
  native.reserveMemory(arena.descriptor, creating.offset, creating.length)
  const freeing = table.gapFor(half.length)
  table.write(9, { ...half, ...freeing, name: 'freeing' })
  native.resizeMemory(arena.descriptor, freeing.offset + freeing.length)
  native.reserveMemory(arena.descriptor, freeing.offset, freeing.length)
  table.setState(9, RegionState.Freeing)
  const before = allocated()
  assert.deepEqual(space.regions(), [])
  const region = await space.openRegion('creating', { size: 4096 })
  assert.equal(region.size, 4096)
  assert.equal(table.inState(RegionState.Free).length, 1023)
  assert.ok(before - allocated() >= 2 ** 23 - 65_536)
  await space.close()
})

test('a space has at most 1024 regions, and says so', async () => {
  await using space = await open('many')
  const regions = []
  for (let index = 0; index < 1024; index += 1) regions.push(await space.openRegion(`r${index}`, { size: 8 }))
  await assert.rejects(space.openRegion('one more', { size: 8 }), {
    code: 'ERR_AETHER_REGIONS_FULL',
    message: /the space has 1024 regions, the maximum; delete some/,
  })
  await regions[500]?.delete()
  await regions[500]?.close()
  await space.openRegion('one more', { size: 8 })
})

test('several processes that make one region at the same time share one', async () => {
  const remotes = Array.from({ length: 6 }, () => new RemoteMember())
  await Promise.all(remotes.map((remote) => remote.call('open', 'together')))
  await Promise.all(remotes.map((remote) => remote.call('openRegion', 'one', { size: 4096 })))
  await Promise.all(remotes.map((remote) => remote.call('add', 'one', 0, 1000)))
  assert.equal(await remotes[0]?.call('load', 'one', 0), 6000)
  await Promise.all(remotes.map((remote) => remote.kill()))
})
