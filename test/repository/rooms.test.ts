import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import test from 'node:test'
import { SeededTree, toolScript } from './checkout.ts'

interface Violation {
  readonly from: string
  readonly rule: { readonly name: string }
}

/** Lines `file: rule`, sorted, for what dependency-cruiser reports in `directory`. */
function violations(directory: string): string[] {
  const arguments_ = ['--config', '.dependency-cruiser.cjs', '--output-type', 'json', 'src', 'tools']
  const result = spawnSync(process.execPath, [toolScript('dependency-cruiser'), ...arguments_], {
    cwd: directory,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
  assert.notEqual(result.stdout, '', result.stderr)
  const report = JSON.parse(result.stdout) as { summary: { violations: Violation[] } }
  return report.summary.violations.map(({ from, rule }) => `${from}: ${rule.name}`).sort()
}

// That the source itself keeps to the plan is checked by `npm run lint`.
test('each way of breaking the plan is caught, type-only imports included', () => {
  using tree = new SeededTree({
    'src/index.ts': "export * from './cluster/space.ts'\n",
    'src/public/index.ts': "export * from '../cluster/space.ts'\n",
    'src/native/index.ts': "import type { Space } from '../cluster/index.ts'\nexport type Late = Space\n",
    'src/codecs/index.ts': "import type { Codec } from './codec.ts'\nexport interface Codecs { first: Codec }\n",
    'src/codecs/codec.ts': "import type { Codecs } from './index.ts'\nexport interface Codec { others: Codecs }\n",
    'src/profiling/index.ts': "import { hidden } from '../native/hidden.ts'\nexport const seen: number = hidden\n",
    'src/native/hidden.ts': "import { two } from './two.ts'\nexport const hidden: number = two\n",
    'src/native/two.ts': 'export const two = 2\n',
    'src/native/lonely.ts': 'export const lonely = 1\n',
    'src/runtime/index.ts': "import { one } from './cycle.ts'\nexport const uno: number = one\n",
    'src/runtime/cycle.ts': "import { uno } from './index.ts'\nexport const one: number = uno\n",
    'src/providers/shm/device.ts': "export { name } from '../sim/device.ts'\n",
    'src/providers/shm/block.ts': "export { name } from '../soft/core.ts'\n",
    'src/providers/soft/core.ts': "export { name } from '../sim/device.ts'\n",
    'src/providers/sim/device.ts': "import { cwd } from 'node:process'\nexport const name: string = cwd()\n",
    'src/cluster/index.ts': "export { Space } from './space.ts'\n",
    'src/cluster/space.ts':
      "import { missing } from './missing.ts'\nexport class Space { readonly it: unknown = missing }\n",
    'src/dsm/index.ts': "export * from '../public/index.ts'\n",
    'src/dsm/mmu/words.ts': "import { server } from '../coherent/server.ts'\nexport const words: unknown = server\n",
    'src/dsm/coherent/server.ts': 'export const server = 1\n',
    'src/testing/index.ts': "import { Space } from '../cluster/index.ts'\nexport const space: Space = new Space()\n",
    'src/dashboard/index.ts': "import { space } from '../testing/index.ts'\nexport const shown: unknown = space\n",
    'src/cli/index.ts': "import { space } from '../testing/index.ts'\nexport const allowed: unknown = space\n",
    'src/attic/index.ts': "import { cwd } from 'node:process'\nexport const attic: string = cwd()\n",
    'src/rpc/index.ts': "import { helper } from '../../test/helper.ts'\nexport const help: number = helper\n",
    'src/structures/distributed/heap/pool.ts':
      "import { map } from '../map/table.ts'\nexport const pool: unknown = map\n",
    'src/structures/distributed/map/table.ts':
      "import { waiting } from '../waiting/bell.ts'\nexport const map: unknown = waiting\n",
    'src/structures/distributed/waiting/bell.ts':
      "import { home } from '../home.ts'\nexport const waiting: unknown = home\n",
    'src/structures/distributed/home.ts': 'export const home = 1\n',
    'src/structures/index.ts': "import fc from 'fast-check'\nexport const check: unknown = fc\n",
    'src/cm/index.ts': "import { tools } from '../../tools/index.ts'\nexport const all: unknown = tools\n",
    'src/messaging/index.ts': "import { messages } from './messages.ts'\nexport const sent: number = messages\n",
    'src/messaging/messages.ts': 'export const messages = 1\n',
    'tools/index.ts': "import { room } from 'aether-dsm/internal/messaging'\nexport const tools: unknown = room\n",
    'tools/relative.ts': "import { sent } from '../src/messaging/index.ts'\nexport const relative: number = sent\n",
    'tools/deep.ts': "import { messages } from '../src/messaging/messages.ts'\nexport const m: number = messages\n",
    'tools/helped.ts': "import { helper } from '../test/helper.ts'\nexport const help: number = helper\n",
    'test/helper.ts': 'export const helper = 1\n',
  })
  assert.deepEqual(violations(tree.path), [
    'src/attic/index.ts: known-room',
    'src/cluster/space.ts: resolvable',
    'src/cm/index.ts: tools-apart',
    'src/codecs/codec.ts: no-cycle',
    'src/dashboard/index.ts: testing-for-tests',
    'src/dsm/index.ts: rooms-below-dsm',
    'src/dsm/mmu/words.ts: mmu-below-coherent',
    'src/index.ts: known-room',
    'src/native/index.ts: rooms-below-native',
    'src/native/lonely.ts: no-orphan',
    'src/profiling/index.ts: through-the-index',
    'src/providers/shm/device.ts: providers-apart',
    'src/providers/soft/core.ts: providers-apart',
    'src/public/index.ts: through-the-index',
    'src/rpc/index.ts: source-stands-alone',
    'src/runtime/cycle.ts: no-cycle',
    'src/structures/distributed/heap/pool.ts: distributed-below-heap',
    'src/structures/distributed/waiting/bell.ts: distributed-below-waiting',
    'src/structures/index.ts: source-stands-alone',
    'tools/deep.ts: tools-by-name',
    'tools/deep.ts: tools-through-the-index',
    'tools/helped.ts: tools-stand-alone',
    'tools/relative.ts: tools-by-name',
  ])
})
