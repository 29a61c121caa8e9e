import { parseArgs } from 'node:util';
import { associationAttack } from './association-attack.ts';
import { attack, told } from './attack.ts';
import { startAttackedGateway } from './attacked-gateway.ts';
import { httpAttack, type Statuses } from './http-attack.ts';

/**
 * Fuzzes a whole gateway from the outside; run by hand:
 *
 * node test/fuzz/doors.ts association --minutes 10 --seed 1   node test/fuzz/doors.ts http
 * --minutes 10 --seed 1
 *
 * `association` sends generated and damaged PDUs and DIMSE messages, cut, interleaved and over
 * several connections. `http` makes requests to every operation with generated and damaged paths,
 * headers and bodies. In between, a good peer must be served. Prints a summary with the use of
 * memory and sockets. The exit status is 1 if the gateway failed.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
  },
});
const [door = ''] = positionals;
const length = { seconds: Number(values.minutes) * 60, seed: Number(values.seed) };

const gateway = await startAttackedGateway();
try {
  if (door === 'association') {
    process.stdout.write(`${told(await attack(gateway, associationAttack(), length))}\n`);
  } else if (door === 'http') {
    const statuses: Statuses = new Map();
    process.stdout.write(`${told(await attack(gateway, httpAttack(statuses), length))}\n`);
    for (const [name, count] of [...statuses].sort()) process.stdout.write(`${name}: ${count}\n`);
  } else {
    throw new Error('which door? association, http');
  }
} finally {
  await gateway.stop();
}
