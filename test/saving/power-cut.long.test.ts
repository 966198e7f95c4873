/** The power goes after any call of the disk, and what was not synced is there or not: thousands of states. */
// First: see there.
import './power/recorder.ts'

import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { playPowerCuts } from './power/play.ts'

useRuntimeDirectory()
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'aether-power-')))
after(() => rmSync(scratch, { recursive: true }))
await playPowerCuts(scratch, 1500)
