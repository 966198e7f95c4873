/**
 * The tools beside the package: its demo, its benchmarks, and what looks for mistakes in it. `aether` loads a command
 * from here when it is asked for one.
 */
import type { Command } from 'aether-dsm/internal/cli'

/** Each command of the tools, by its name on the command line. */
export const commands: Readonly<Record<string, () => Promise<Command>>> = {
  demo: async () => (await import('./commands/demo.ts')).demoCommand,
  agreement: async () => (await import('./commands/agreement.ts')).agreementCommand,
  bench: async () => (await import('./commands/bench.ts')).benchCommand,
  litmus: async () => (await import('./commands/litmus.ts')).litmusCommand,
  modelcheck: async () => (await import('./commands/modelcheck.ts')).modelcheckCommand,
  simulate: async () => (await import('./commands/simulate.ts')).simulateCommand,
  torture: async () => (await import('./commands/torture.ts')).tortureCommand,
}
