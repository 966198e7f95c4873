import { MemberEndedError, type RegistryAnswer } from '../../cluster/index.ts'
import { type AetherError, native } from '../../native/index.ts'
import type { CoherenceKind } from '../coherence.ts'
import { RegionError } from '../errors.ts'
import { PageWords } from '../mmu/page-words.ts'
import { WindowTable } from '../mmu/window-table.ts'
import type { Region } from '../region.ts'
import type { RegionRequest } from '../region-request.ts'
import { formatSize } from '../size.ts'
import type { CoherentHost } from './coherent-host.ts'
import { CoherentRegion } from './coherent-region.ts'
import { createFrames } from './frame-object.ts'
import { type AgreedPlacement, type EvaluatedPlacement, evaluatePlacement, placementInWords } from './placement.ts'
import { pageCount, type RegionPlan } from './region-plan.ts'

/** What the ranks must agree on. The keeper of the regions' names compares it as text. */
interface Agreement {
  readonly size: number
  readonly pageSize: number
  readonly placement: AgreedPlacement
  readonly coherence: CoherenceKind
  readonly replicas: 0 | 1
}

/** Makes or opens a region whose ranks have memory of their own, kept coherent by the protocol `request.coherence`. */
export function openCoherentRegion(host: CoherentHost, request: RegionRequest): Promise<Region> {
  const open = (): Promise<Region> => openAlone(host, request)
  const opening = (host.openings.get(request.name) ?? Promise.resolve()).then(open, open)
  host.openings.set(request.name, opening)
  return opening
}

async function openAlone(host: CoherentHost, request: RegionRequest): Promise<Region> {
  const known = host.regions.get(request.name) as CoherentRegion | undefined
  if (known?.closed === false) {
    checkSame(host, request, known)
    return known
  }
  await known?.close()
  const { agreement, placement } = await agree(host, request)
  const { userfault } = host
  const plan = makePlan(request, agreement, placement, 'refused' in userfault || userfault.hugePages)
  const id = await register(host, request, plan, agreement)
  // Other ranks still had it: this rank's agent went on serving it, with the memory it has.
  const served = known?.id === id ? known.plan : undefined
  if (served !== undefined) native.closeDescriptor(plan.framesDescriptor)
  if (served !== undefined && served.cacheBytes !== plan.cacheBytes) {
    await host.agent.command('closeRegion', request.name)
    throw localDifference(request, `cache ${cacheInWords(served.cacheBytes)}`, 'every rank has closed it')
  }
  if (served !== undefined && served.advise !== plan.advise) {
    await host.agent.command('closeRegion', request.name)
    throw localDifference(request, adviseInWords(served), 'every rank has closed it')
  }
  known?.unmap()
  const region = new CoherentRegion(host, served ?? plan, id, request.access)
  host.regions.set(request.name, region)
  return region
}

/** Resolves with the region's number. From then on the descriptor of the frames is the agent's to close. */
async function register(
  host: CoherentHost,
  request: RegionRequest,
  plan: RegionPlan,
  agreement: Agreement,
): Promise<number> {
  try {
    const payload = { plan, parameters: JSON.stringify(agreement) }
    const reply = (await host.agent.command('openRegion', payload)) as RegistryAnswer
    if (reply.kind === 'opened') return reply.id
    throw refusal(request, reply, agreement)
  } catch (error) {
    native.closeDescriptor(plan.framesDescriptor)
    throw error
  }
}

/** What is asked for; without a size what is in force. */
async function agree(
  host: CoherentHost,
  request: RegionRequest,
): Promise<{ agreement: Agreement; placement: EvaluatedPlacement }> {
  if (request.size !== undefined) return asked(host, { ...request, size: request.size })
  const answer = (await host.agent.command('lookUpRegion', request.name)) as RegistryAnswer
  if (answer.kind !== 'opened') throw refusal(request, answer, undefined)
  const agreement = JSON.parse(answer.parameters) as Agreement
  const { size, pageSize, placement: agreed, coherence, replicas } = agreement
  if (typeof agreed !== 'object' || !('explicit' in agreed)) {
    return { agreement, placement: evaluatePlacement(agreed, pageCount(size, pageSize), host.ranks) }
  }
  // What was said page by page is not kept anywhere: the opener says it, too.
  const own = asked(host, { ...request, size, pageSize, coherence, replicas })
  if (JSON.stringify(own.agreement) !== answer.parameters) throw differs(request.name, own.agreement, agreement)
  return own
}

function asked(
  host: CoherentHost,
  request: Pick<RegionRequest, 'pageSize' | 'placement' | 'replicas' | 'coherence'> & { readonly size: number },
): { agreement: Agreement; placement: EvaluatedPlacement } {
  const { size, pageSize, coherence, replicas } = request
  const placement = evaluatePlacement(request.placement, pageCount(size, pageSize), host.ranks)
  return { agreement: { size, pageSize, placement: placement.agreed, coherence, replicas }, placement }
}

function makePlan(
  { name, cacheBytes, advise }: RegionRequest,
  agreement: Agreement,
  placement: EvaluatedPlacement,
  mayBeHuge: boolean,
): RegionPlan {
  const { size, pageSize } = agreement
  const pages = pageCount(size, pageSize)
  const frames = createFrames(pages * pageSize, pageSize, mayBeHuge)
  return {
    ...agreement,
    placement,
    name,
    words: new PageWords(pages).buffer,
    windows: new WindowTable().buffer,
    cacheBytes,
    advise,
    framesDescriptor: frames.descriptor,
    framePages: frames.pages,
  }
}

function refusal(
  { name }: RegionRequest,
  answer: Exclude<RegistryAnswer, { kind: 'opened' }>,
  wanted: Agreement | undefined,
): AetherError {
  if (answer.kind === 'gone') {
    const why = `rank ${answer.rank} has ended or left; it kept the names of the regions`
    return new MemberEndedError([answer.rank], `region '${name}' cannot be opened: ${why}`)
  }
  if (answer.kind === 'other' && wanted !== undefined)
    return differs(name, wanted, JSON.parse(answer.parameters) as Agreement)
  const message = `there is no region '${name}' in this group; pass a size to make it`
  return new RegionError('ERR_AETHER_REGION_NOT_FOUND', name, message)
}

function checkSame(host: CoherentHost, request: RegionRequest, known: CoherentRegion): void {
  const { size = known.size } = request
  const present: Agreement = { ...known.plan, placement: known.plan.placement.agreed }
  const wanted = asked(host, { ...request, size }).agreement
  if (inWords(wanted) !== inWords(present)) throw differs(request.name, wanted, present)
  if (request.cacheBytes !== known.plan.cacheBytes)
    throw localDifference(request, `cache ${cacheInWords(known.plan.cacheBytes)}`, 'every rank has closed it')
  if (request.advise !== known.plan.advise)
    throw localDifference(request, adviseInWords(known.plan), 'every rank has closed it')
  if (request.access === known.access) return
  throw localDifference(request, `access '${known.access}'`, 'it was closed')
}

/** Of what each rank may have its own way. */
function localDifference({ name }: RegionRequest, present: string, until: string): RegionError {
  const message = `region '${name}' is served in this process with ${present}; it can be opened differently when ${until}`
  return new RegionError('ERR_AETHER_REGION_MISMATCH', name, message)
}

function cacheInWords(bytes: number | undefined): string {
  if (bytes === undefined) return 'without a bound'
  return bytes === 0 ? 'disabled' : `of ${formatSize(bytes)}`
}

function adviseInWords({ advise }: RegionPlan): string {
  return advise ? 'advise' : 'advise: false'
}

function differs(name: string, wanted: Agreement, present: Agreement): RegionError {
  const message = `region '${name}' exists with other parameters: it has ${inWords(present)}; requested was ${inWords(wanted)}`
  return new RegionError('ERR_AETHER_REGION_MISMATCH', name, message)
}

function inWords({ size, pageSize, placement, coherence, replicas }: Agreement): string {
  const grain = `page size ${formatSize(pageSize)}, placement ${placementInWords(placement)}`
  return `size ${formatSize(size)}, coherence ${coherence}, ${grain}${replicas === 0 ? '' : ', replicas 1'}`
}
