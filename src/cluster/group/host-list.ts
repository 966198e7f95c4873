/**
 * The first host of a list as Slurm writes it: `node[03-17,20],login1` begins with `node03`. See "hostlist expressions"
 * in scontrol(1). Undefined if the text is not such a list.
 */
export function firstHost(list: string): string | undefined {
  const [, before = '', numbers, after = ''] = /^([\w.-]*)(?:\[(\d[\d,-]*)\]([\w.-]*))?/.exec(list.trim()) ?? []
  if (numbers === undefined) return before === '' ? undefined : before
  return `${before}${/^\d+/.exec(numbers)?.[0]}${after}`
}
