import { createHash } from 'node:crypto'
import process from 'node:process'
import { firstHost } from './host-list.ts'
import { launcherProcess } from './launcher-process.ts'

/** What launchers tell the processes that they start, one family of variables per launcher. */
interface Family {
  readonly name: string
  readonly rank: string
  readonly size: readonly string[]
  /** Where the ranks meet; undefined if the variables do not tell. */
  readonly rendezvous?: (environment: NodeJS.ProcessEnv, size: string) => string | undefined
}

/**
 * In this order: Aether's own come first, and mpirun's before Slurm's. An mpirun within a Slurm job passes on the
 * variables of the step that started it.
 */
const families: readonly Family[] = [
  { name: 'Aether', rank: 'AETHER_RANK', size: ['AETHER_SIZE'] },
  {
    name: 'Open MPI',
    rank: 'OMPI_COMM_WORLD_RANK',
    size: ['OMPI_COMM_WORLD_SIZE'],
    rendezvous(environment, size) {
      if (setting(environment, 'OMPI_COMM_WORLD_LOCAL_SIZE')?.text !== size) return undefined
      const run = setting(environment, 'PMIX_NAMESPACE') ?? setting(environment, 'OMPI_MCA_ess_base_jobid')
      return local('openmpi', run?.text ?? launcherProcess(this.rank))
    },
  },
  {
    name: 'PMI',
    rank: 'PMI_RANK',
    size: ['PMI_SIZE'],
    // Hydra, the launcher of MPICH and Intel MPI, numbers the ranks of a machine, but not its runs.
    rendezvous(environment, size) {
      return setting(environment, 'MPI_LOCALNRANKS')?.text === size
        ? local('hydra', launcherProcess(this.rank))
        : undefined
    },
  },
  {
    name: 'Slurm',
    rank: 'SLURM_PROCID',
    size: ['SLURM_STEP_NUM_TASKS', 'SLURM_NTASKS', 'SLURM_NPROCS'],
    rendezvous: slurmRendezvous,
  },
]

/** Ports that neither services nor, by default, outgoing connections use. */
const PORT_FIRST = 20_000
const PORT_COUNT = 12_000

/** A variable with its text. */
export interface Setting {
  readonly variable: string
  readonly text: string
}

/** Rank and size according to a launcher; undefined if no launcher set them. */
export function rankSettings(environment: NodeJS.ProcessEnv = process.env): {
  readonly rank: Setting | undefined
  readonly size: Setting | undefined
  readonly launcher: string | undefined
} {
  for (const { name, rank, size } of families) {
    const [first, ...more] = size.map((variable) => setting(environment, variable)).filter((each) => each !== undefined)
    const own = setting(environment, rank)
    // Aether's may be set one by one, besides options of join(). Those of other launchers count only together.
    if (name === 'Aether' ? own !== undefined || first !== undefined : own !== undefined && first !== undefined)
      return { rank: own, size: first ?? more[0], launcher: name }
  }
  return { rank: undefined, size: undefined, launcher: undefined }
}

/**
 * Where the ranks meet, if the launcher's variables say so. On one machine that is a space named after the run. On
 * several only Slurm tells: the first host of the step.
 */
export function rendezvousSetting(environment: NodeJS.ProcessEnv = process.env): string | undefined {
  const own = setting(environment, 'AETHER_RENDEZVOUS')
  if (own !== undefined) return own.text
  const { launcher, size } = rankSettings(environment)
  return families.find(({ name }) => name === launcher)?.rendezvous?.(environment, size?.text ?? '')
}

function slurmRendezvous(environment: NodeJS.ProcessEnv): string | undefined {
  const job = setting(environment, 'SLURM_JOB_ID')?.text ?? setting(environment, 'SLURM_JOBID')?.text
  const step = setting(environment, 'SLURM_STEP_ID')?.text ?? setting(environment, 'SLURM_STEPID')?.text ?? '0'
  if (job === undefined) return undefined
  const nodes = setting(environment, 'SLURM_STEP_NUM_NODES') ?? setting(environment, 'SLURM_NNODES')
  if (nodes?.text === '1') return local('slurm', `${job}-${step}`)
  const list = setting(environment, 'SLURM_STEP_NODELIST') ?? setting(environment, 'SLURM_JOB_NODELIST')
  const host = list && firstHost(list.text)
  return host === undefined ? undefined : `tcp:${host}:${portOf(`${job}.${step}`)}`
}

function local(launcher: string, run: string | undefined): string | undefined {
  return run && `local:${launcher}-${run.replace(/[^\w.-]/g, '_')}`
}

/** The same port for all who know the name of a step or group. Those of one host very rarely have one port. */
export function portOf(step: string): number {
  return PORT_FIRST + (createHash('sha256').update(step).digest().readUInt32BE(0) % PORT_COUNT)
}

function setting(environment: NodeJS.ProcessEnv, variable: string): Setting | undefined {
  const text = environment[variable]
  return text === undefined || text === '' ? undefined : { variable, text }
}
