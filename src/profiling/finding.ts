import { ArgumentError } from '../native/index.ts'

/** What was found out beyond figures, as a profile carries it. */
export interface Finding {
  /** What kind it is: `dsm.advice`. */
  readonly kind: string
  /** What it is about: the name of a region. Of a kind and subject a profile has one. */
  readonly subject: string
  /** For people. */
  readonly text: string
  /** For programs: what JSON can carry. */
  readonly details: unknown
}

/** The later of the same kind and subject stands for the earlier. */
export function mergedFindings(findings: readonly Finding[]): readonly Finding[] {
  return [...new Map(findings.map((finding) => [JSON.stringify([finding.kind, finding.subject]), finding])).values()]
}

/** @throws ArgumentError for what is no finding. */
export function checkedFinding(json: Finding): Finding {
  const { kind, subject, text, details } = json ?? {}
  if (typeof kind === 'string' && typeof subject === 'string' && typeof text === 'string')
    return { kind, subject, text, details }
  throw new ArgumentError('findings', 'a finding has a kind, a subject and a text, which are texts, and details')
}
