import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Protocol, protocols } from '../../../src/dsm/index.ts'
import { type ExploreResult, exploreModel, type Side, withCell } from '../../../tools/modelcheck/index.ts'

/** A mistake: what somebody might write into a cell, the cell, what then stands there, and what the checker says. */
type Mutant = readonly [mistake: string, cell: string, instead: string, what: RegExp]

const mutants: Readonly<Record<string, readonly Mutant[]>> = {
  mesi: [
    [
      'an owner goes on writing while it serves a reader',
      'cache M/ForwardShared',
      'sendShared, writeBack, tellHome -> S',
      /^push: .* may still store/,
    ],
    ['an owner keeps its copy when another writes', 'cache E/ForwardModified', 'sendModified -> I', /^mirror/],
    [
      'a sharer acknowledges and goes on reading',
      'cache S/Invalidate',
      'acknowledge -> S',
      /^single writer|^directory/,
    ],
    [
      'home is not written when its page becomes shared',
      'cache M/ForwardShared',
      'protect, sendShared, tellHome -> S',
      /^quiescence|^data value|^worth/,
    ],
    ['home forgets a sharer', 'directory S/GetShared', 'sendShared -> S_B', /^directory covers/],
    [
      'a writer does not wait for acknowledgements',
      'cache SM/GrantMore',
      'mapWritable, unblock -> M',
      /^single writer/,
    ],
    ['home does not wait for the write-back', 'directory S_DB/Unblock', '-> S', /no transition/],
    ['an upgrade that lost keeps its old bytes', 'cache SM/Invalidate', 'acknowledge -> IM', /^mirror/],
    ['a reader never says that it is served', 'cache IS/DataShared', 'mapReadOnly -> S', /^quiescence|^progress/],
    ['a queued request is dropped', 'directory X_B/GetModified', '-> X_B', /^progress/],
    [
      'an owner drops what it has written',
      'cache M/Evict',
      'unmap, putClean -> EI_A',
      /^lost|^quiescence|^data value|^worth/,
    ],
    [
      'a page is evicted before its bytes are at home',
      'directory X/PutDirty',
      'clearOwner, acknowledgePut -> U',
      /no transition|^lost|^data value|^worth/,
    ],
    ['a stale eviction takes the new owner away', 'directory X/PutStale', 'clearOwner, acknowledgePut -> U', /./],
    ['an evicted copy is still read', 'cache S/Evict', 'putShared -> SI_A', /^mirror/],
    [
      'who evicts forgets to answer a forward',
      'cache EI_A/ForwardShared',
      'tellHome -> SI_A',
      /^progress|^quiescence|no transition/,
    ],
  ],
  moesi: [
    [
      'the owner does not protect before it sends',
      'cache M/ForwardShared',
      'sendDirty -> O',
      /^push: .* may still store/,
    ],
    [
      'home takes its memory for valid',
      'directory XS_B/UnblockDirty',
      'ownerBecomesSharer -> S',
      /^quiescence|^data value|^worth|no transition/,
    ],
    [
      'an owner that lost its upgrade goes on reading',
      'cache OM/Invalidate',
      'acknowledge -> SM',
      /^single writer|^directory/,
    ],
    [
      'sharers are not invalidated when the owner upgrades',
      'directory O/UpgradeOwner',
      'grant, setOwner -> X_B',
      /^single writer|^directory/,
    ],
    [
      'the owner is not invalidated when a sharer upgrades',
      'directory O/Upgrade',
      'invalidateSharers, grant, setOwner -> X_B',
      /./,
    ],
    [
      'the owner keeps what it hands over',
      'cache O/ForwardModified',
      'sendModified -> O',
      /^mirror|^single writer|^directory/,
    ],
    [
      'what the owner evicts is not written back',
      'cache OI_A/WriteBack',
      'sendWrittenBack -> II_A',
      /^lost|^quiescence|^data value|^worth/,
    ],
    [
      'the last reader goes and home trusts its memory',
      'directory O/PutSharedLast',
      'removeSharer, acknowledgePut -> U',
      /./,
    ],
    ['the owner goes before it has written home', 'directory O/PutDirty', 'clearOwner, acknowledgePut -> S', /./],
  ],
  directory: [
    [
      'a forward that overtakes the grant is dropped',
      'cache IM/ForwardModified',
      '-> IM',
      /^progress|^quiescence|^directory/,
    ],
    [
      'a forward that overtakes the grant is served at once',
      'cache IM/ForwardShared',
      'sendShared, tellHome -> IS',
      /./,
    ],
    [
      'a reader acknowledges and takes the bytes that come later',
      'cache IS/Invalidate',
      'acknowledge -> IS',
      /^single writer|^data value|^worth|^frames|^directory/,
    ],
    ['home serves before the owner has written it', 'directory S_D/GetShared', 'sendShared, addSharer -> S_D', /./],
    [
      'home does not wait for the last word of the owner',
      'directory X/GetShared',
      'forwardShared, ownerBecomesSharer, addSharer -> S',
      /./,
    ],
    ['a second writer is forwarded to the first owner', 'directory X/GetModified', 'forwardModified -> X', /./],
    [
      'an eviction loses against a writer and is not noticed',
      'cache MI_A/ForwardModified',
      'sendModified -> MI_A',
      /./,
    ],
    [
      'home asks the sharers of none',
      'directory S/Upgrade',
      'grant, setOwner -> X',
      /^single writer|^directory|^frames/,
    ],
  ],
  token: [
    [
      'an owner goes on writing while it answers a reader',
      'cache M/ForwardShared',
      'answerShared -> O',
      /^push: .* may still store/,
    ],
    ['who gives every token away goes on reading', 'cache S/ForwardModified', 'answerAll -> S', /^tokens|^mirror/],
    ['a question is not answered', 'cache I/ForwardMiss', '-> I', /^progress|^quiescence/],
    [
      'a reader is content with what came short',
      'cache IS/AnsweredShort',
      'mapReadOnly -> S',
      /^tokens|^data value|^mirror/,
    ],
    [
      'a writer does not wait for every token',
      'cache IM_A/AnsweredOwner',
      'mapWritable -> M',
      /^single writer|no transition/,
    ],
    ['tokens are dropped with the copy', 'cache S/Evict', 'unmap, evicted -> I', /^tokens|^progress|no transition/],
    ['home forgets what was returned', 'directory H/PutTokens', 'removeSharer, acknowledgePut -> H', /^tokens/],
    [
      'an eviction is over before home has the bytes',
      'directory H/PutOffer',
      'acknowledgePut -> H',
      /no transition|^tokens|^quiescence/,
    ],
    ['home asks nobody for a writer', 'directory H/GetModified', 'expectAlone -> H', /^progress|^quiescence/],
    [
      'who is served goes on asking persistently',
      'cache IM_P/TokensAll',
      'mapWritable -> M',
      /^progress|^quiescence|no transition/,
    ],
    ['a starving writer gets nothing', 'cache O/StarvingModified', '-> O', /^progress|^quiescence|^starvation/],
  ],
}

/** Three nodes that count tokens have millions of states: mistakes there come to light early. */
const statesMax = 300_000

const explore = (protocol: Protocol, nodes: number): ExploreResult['violation'] =>
  exploreModel({ protocol, nodes, pages: 1, homes: 'same', threads: 'one', refusals: 0 }, { statesMax }).violation

const cellPattern = /^(cache|directory) (\w+)\/(\w+)$/

test('there are at least 25 of them, and at least 8 of each protocol', () => {
  assert.ok(Object.values(mutants).flat().length >= 25)
  for (const name of protocols.keys()) assert.ok(mutants[name]!.length >= 8, name)
})

for (const [name, ofProtocol] of Object.entries(mutants)) {
  for (const [mistake, cell, instead, what] of ofProtocol) {
    test(`${name}: ${mistake}`, () => {
      const [, side, state, event] = cellPattern.exec(cell) ?? []
      const [actions, next] = instead.split(/ *-> /)
      const protocol = withCell(
        protocols.get(name)!,
        { side: side as Side, state: state!, event: event! },
        { actions: actions!.split(', ').filter((action) => action !== ''), next: next! },
      )
      // Some need three nodes.
      const found = explore(protocol, 2) ?? explore(protocol, 3)
      assert.ok(found, 'no violation was found')
      assert.match(found.what, what)
      assert.match(found.trace, /^ +node 0, home of 0/)
      assert.ok(found.steps > 1 && found.steps < 40)
    })
  }
}
