import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONSOLE_ROLES, ROLES } from '../../../../src/core/accounts/roles.ts';
import type { ConsoleRole } from '../../../../src/doors/console/contract.ts';
import { type Client, type ConsoleSite, openConsole } from './site.ts';
import { fillWorklist } from './worklist-fixture.ts';

/**
 * The roles that may call each route of contract.ts. The tests use unknown ids, because 403 is
 * checked before the id.
 */
const EVERYONE: readonly ConsoleRole[] = CONSOLE_ROLES;
const READERS: readonly ConsoleRole[] = ['clinician', 'administrator'];
const SIGNERS: readonly ConsoleRole[] = ['clinician'];
const KEEPERS: readonly ConsoleRole[] = ['operator', 'administrator'];
const HEADS: readonly ConsoleRole[] = ['administrator'];

const ROUTES: [method: string, path: string, allowed: readonly ConsoleRole[]][] = [
  ['GET', '/session', EVERYONE],
  ['GET', '/worklist', EVERYONE],
  ['GET', '/worklist/facets', EVERYONE],
  ['GET', '/worklist/none', EVERYONE],
  ['GET', '/display', READERS],
  ['GET', '/requests/none/result', EVERYONE],
  ['GET', '/requests/none/artifacts/report.pdf', EVERYONE],
  ['GET', '/requests/none/review', EVERYONE],
  ['GET', '/requests/none/review/events', EVERYONE],
  ['PATCH', '/requests/none/review', READERS],
  ['POST', '/requests/none/sign', SIGNERS],
  ['POST', '/requests/none/withdraw', READERS],
  ['POST', '/requests/none/cancel', KEEPERS],
  ['POST', '/requests/none/acknowledge', READERS],
  ['POST', '/studies/none/complete', KEEPERS],
  ['POST', '/studies/none/rerun', KEEPERS],
  ['POST', '/studies/none/hold', KEEPERS],
  ['POST', '/studies/none/release', KEEPERS],
  ['POST', '/instances', KEEPERS],
  ['GET', '/destinations', EVERYONE],
  ['GET', '/deliveries', EVERYONE],
  ['POST', '/deliveries/none/replay', KEEPERS],
  ['POST', '/deliveries/none/alternate', KEEPERS],
  ['POST', '/deliveries/none/close', KEEPERS],
  ['GET', '/holds', EVERYONE],
  ['GET', '/holds/none', READERS],
  ['POST', '/holds/none/confirm', READERS],
  ['POST', '/holds/none/reject', READERS],
  ['GET', '/quarantine', EVERYONE],
  ['POST', '/quarantine/none/register', KEEPERS],
  ['POST', '/quarantine/none/remove', KEEPERS],
  ['GET', '/rules', KEEPERS],
  ['PUT', '/rules', KEEPERS],
  ['POST', '/rules/dry-run', KEEPERS],
  ['POST', '/rules/dry-run-file', KEEPERS],
  ['GET', '/peers', KEEPERS],
  ['POST', '/doctor', KEEPERS],
  ['GET', '/keys', HEADS],
  ['POST', '/keys', HEADS],
  ['DELETE', '/keys/none', HEADS],
  ['GET', '/webhooks/secret', HEADS],
  ['POST', '/webhooks/secret/rotate', HEADS],
  ['GET', '/webhooks/deliveries', HEADS],
  ['POST', '/webhooks/deliveries/none/redeliver', HEADS],
  ['GET', '/usage', HEADS],
  ['GET', '/retention', HEADS],
];
const CHANGES = ROUTES.filter(([method]) => method !== 'GET');

let site: ConsoleSite;
const clients = new Map<ConsoleRole, Client>();
const as = (role: ConsoleRole) => clients.get(role) as Client;

beforeAll(async () => {
  site = await openConsole({ console: { invokeImageDisplay: true } });
  await fillWorklist(site.database, 20);
  for (const role of CONSOLE_ROLES) clients.set(role, await site.signIn(role));
});
afterAll(() => site.close());

describe('the table', () => {
  it('contains every route that the contract lists for signed-in persons', async () => {
    const contract = await readFile(
      new URL('../../../../src/doors/console/contract.ts', import.meta.url),
      'utf8',
    );
    const lines = contract.matchAll(/^ \* {3}(GET|POST|PUT|PATCH|DELETE) +(\/\S+) +(\S.*)$/gm);
    const listed = [...lines]
      .filter(([, , , allowed]) => !allowed?.startsWith('(nobody'))
      .map(([, method, path]) => `${method} ${path}`);
    const tabled = ROUTES.map(
      ([method, path]) =>
        `${method} ${path.replace(/\/none(?=\/|$)/, path.startsWith('/worklist') ? '/{key}' : '/{id}').replace('report.pdf', '{name}')}`,
    );
    // Signing out would end the sessions of the test, and the stream of events does not end.
    const apart = ['DELETE /session', 'DELETE /sessions', 'GET /events'];
    expect(listed.length).toBeGreaterThan(30);
    expect(tabled.toSorted()).toEqual(listed.filter((one) => !apart.includes(one)).toSorted());
  });
});

describe('each route', () => {
  it.each(ROUTES)('%s %s is allowed to %j and nobody else', async (method, path, allowed) => {
    for (const role of CONSOLE_ROLES) {
      // The doctor would contact peers, which an unknown name prevents.
      const body = path === '/doctor' ? { peer: 'nobody' } : method === 'POST' ? {} : undefined;
      const { status } = await as(role).call(method, path, body);
      if (allowed.includes(role)) expect([401, 403, 500], `${role}`).not.toContain(status);
      else expect(status, `${role}`).toBe(403);
    }
  });

  it.each(ROUTES)('%s %s is refused to anyone not signed in', async (method, path) => {
    expect((await fetch(`${site.url}/console/api${path}`, { method })).status).toBe(401);
  });

  it('is audited, with who called it, where the role does not permit it', async () => {
    const { call, keyId } = await site.signIn('viewer');
    expect((await call('POST', '/keys', { name: 'for me' })).status).toBe(403);
    const entries = async () => {
      const { rows } = await site.database.query(
        `SELECT outcome, detail FROM audit WHERE action = 'permission.refused' AND key_id = $1`,
        [keyId],
      );
      return rows;
    };
    await expect
      .poll(entries)
      .toEqual([
        { outcome: 'refused', detail: { role: 'viewer', call: 'POST /console/api/keys' } },
      ]);
  });

  it('lists in the session what its role may do', () => {
    for (const role of CONSOLE_ROLES) expect(as(role).session.may).toEqual(ROLES[role].may);
  });
});

describe('each change', () => {
  it.each(CHANGES)('%s %s is refused without the token of its session', async (method, path) => {
    const { cookie } = as('administrator');
    const headers = { cookie, 'X-CSRF-Token': as('operator').session.csrf };
    expect((await fetch(`${site.url}/console/api${path}`, { method, headers })).status).toBe(403);
  });

  it.each([
    [{ 'Sec-Fetch-Site': 'cross-site' }, 403],
    [{ 'Sec-Fetch-Site': 'same-site' }, 403],
    [{ Origin: 'https://evil.example' }, 403],
    [{ Origin: 'null' }, 403],
    [{ 'Sec-Fetch-Site': 'same-origin' }, 404],
  ])('with %j is answered with %i', async (headers, status) => {
    const { call } = as('administrator');
    const answer = await call('POST', '/studies/none/complete', undefined, headers as never);
    expect(answer.status).toBe(status);
  });

  it("is accepted from the gateway's own page", async () => {
    const headers = { Origin: site.url };
    const answer = await as('operator').call('POST', '/studies/none/complete', undefined, headers);
    expect(answer.status).toBe(404);
  });
});
