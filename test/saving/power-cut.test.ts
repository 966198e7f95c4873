/** The power goes after any call of the disk, and what was not synced is there or not: some states of the disk. */
// First: see there.
import './power/recorder.ts'

import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after } from 'node:test'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { playPowerCuts } from './power/play.ts'

useRuntimeDirectory()
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'aether-power-')))
after(() => rmSync(scratch, { recursive: true }))
await playPowerCuts(scratch, Number(process.env['AETHER_TEST_STATES'] ?? 12))
