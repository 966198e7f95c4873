/** Cases of the conformance suites that a tcp device answers with Unsupported, and why. */
import { addressSpaceCases } from '../../../src/testing/conformance/cases/address-spaces.ts'
import { deviceMemoryCases } from '../../../src/testing/conformance/cases/device-memory.ts'
import { dynamicCases } from '../../../src/testing/conformance/cases/dynamic.ts'
import { indirectKeyCases } from '../../../src/testing/conformance/cases/indirect-keys.ts'
import { parentDomainCases } from '../../../src/testing/conformance/cases/parent-domains.ts'
import { xrcCases } from '../../../src/testing/conformance/cases/xrc.ts'
import { conformanceCases } from '../../../src/testing/index.ts'

interface Named {
  readonly name: string
}

function forEach(cases: readonly Named[], why: string): Record<string, string> {
  return Object.fromEntries(cases.map(({ name }) => [name, why]))
}

function ofType(...types: readonly string[]): readonly Named[] {
  return conformanceCases.filter(({ name }) => types.some((type) => name.startsWith(`${type}:`)))
}

const NO_GROUPS = 'datagrams go to one address; a group would need the network to know its members'

export const tcpUnsupported: Readonly<Record<string, string>> = {
  ...forEach(deviceMemoryCases, 'a software device has no memory of its own'),
  ...forEach(addressSpaceCases, 'a key to the whole address space would let a mistake of a peer end the process'),
  ...forEach(indirectKeyCases, 'indirect keys are of mlx5'),
  ...forEach(dynamicCases, 'dynamically connected queue pairs are of mlx5'),
  ...forEach(ofType('dci', 'dct', 'dc'), 'dynamically connected queue pairs are of mlx5'),
  ...forEach(xrcCases, 'a stream belongs to one pair of queue pairs, so XRC has nothing to share'),
  ...forEach(ofType('xrc', 'xrc-send', 'xrc-receive'), 'a stream belongs to one pair of queue pairs'),
  ...forEach(ofType('uc'), 'a stream is reliable'),
  ...forEach(parentDomainCases, 'there are neither thread nor parent domains'),
  'ud: what is sent to a group reaches every attached queue pair': NO_GROUPS,
  'a queue pair that is attached to a group cannot be destroyed': NO_GROUPS,
  'only a multicast gid can be attached to, only by ud, and only detached when attached': NO_GROUPS,
}

export const tcpConnectionsUnsupported: Readonly<Record<string, string>> = {
  'the two port spaces have ports of their own': 'listeners of both are TCP ports',
  'what is sent to a multicast group reaches its other members, but none that has left': NO_GROUPS,
}
