import type { Bundle, CapabilityStatement, OperationOutcome, Task } from '@medplum/fhirtypes';
import { Client } from 'fhir-kit-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { indexDefinitions, validationErrors } from '../../../../fhir/validators.ts';
import { type Gateway, startGateway } from '../gateway.ts';

let gateway: Gateway;
let client: Client;

beforeAll(async () => {
  indexDefinitions();
  gateway = await startGateway();
  client = clientOf(await gateway.key());
});
afterAll(() => gateway.stop());

const clientOf = (key: string) => new Client({ baseUrl: `${gateway.url}/fhir`, bearerToken: key });
const idOf = (request: string) => request.replace('_', '-');
const readTask = async (request: string) =>
  (await client.read({ resourceType: 'Task', id: idOf(request) })) as unknown as Task;
const search = async (searchParams: Record<string, string>, by = client) =>
  (await by.resourceSearch({ resourceType: 'Task', searchParams })) as unknown as Bundle<Task>;
const idsOf = ({ entry = [] }: Bundle<Task>) => entry.map(({ resource }) => resource?.id);
async function refusal(call: Promise<unknown>): Promise<{ status: number; code: string }> {
  const error = await call.then(
    () => null,
    (thrown: { response: { status: number; data: OperationOutcome } }) => thrown,
  );
  const [issue] = error?.response.data.issue ?? [];
  return { status: error?.response.status ?? 0, code: issue?.code ?? '' };
}

describe('a request as a Task', () => {
  it('whose result was withdrawn says so, and has no output', async () => {
    const id = await gateway.submit();
    await gateway.worker.start(id);
    await gateway.worker.succeed(id);
    const key = await gateway.key({ scopes: ['read', 'sign'] });
    const answer = await gateway.call(`/v1/requests/${id}/withdraw`, {
      key,
      body: { reason: 'wrong-patient' },
    });
    const { withdrawal } = (await answer.json()) as { withdrawal: { at: string } };
    const task = await readTask(id);
    expect(validationErrors(task)).toEqual([]);
    expect(task).toMatchObject({
      status: 'completed',
      businessStatus: { text: 'The result was withdrawn: Wrong patient' },
      lastModified: withdrawal.at,
    });
    expect(task.output).toBeUndefined();
  });

  it('is accepted, in progress and completed, each time a valid resource', async () => {
    const id = await gateway.submit();
    const tasks = [await readTask(id)];
    await gateway.worker.start(id);
    tasks.push(await readTask(id));
    await gateway.worker.succeed(id);
    tasks.push(await readTask(id));
    expect(tasks.map(({ status }) => status)).toEqual(['accepted', 'in-progress', 'completed']);
    expect(tasks.flatMap(validationErrors)).toEqual([]);
    expect(tasks[2]).toMatchObject({
      intent: 'order',
      code: { text: 'us/obstetric/interpret 1.10.0' },
      identifier: [{ value: id }],
      output: [{ valueUrl: `${gateway.url}/v1/requests/${id}` }],
    });
  });

  it('states why it was rejected, without text from a peer', async () => {
    const id = await gateway.submit();
    await gateway.worker.start(id);
    await gateway.worker.reject(id, 'a.png cannot be decoded');
    const task = await readTask(id);
    expect(validationErrors(task)).toEqual([]);
    expect(task.status).toBe('rejected');
    expect(task.statusReason?.coding?.[0]?.code).toBe('no_readable_image');
    expect(JSON.stringify(task)).not.toContain('a.png');
  });

  it('is found by its status, its identifier and its time', async () => {
    const id = await gateway.submit();
    await gateway.call(`/v1/requests/${id}/cancel`, { method: 'POST' });
    const cancelled = await search({ status: 'cancelled' });
    expect(validationErrors(cancelled)).toEqual([]);
    expect(idsOf(cancelled)).toEqual([idOf(id)]);
    const withSystem = { status: 'http://hl7.org/fhir/task-status|cancelled,draft' };
    expect(idsOf(await search(withSystem))).toEqual([idOf(id)]);
    expect(idsOf(await search({ identifier: `${gateway.url}/v1/requests|${id}` }))).toEqual([
      idOf(id),
    ]);
    expect(idsOf(await search({ _id: idOf(id), 'authored-on': 'ge2020-01-01' }))).toEqual([
      idOf(id),
    ]);
    const none: Record<string, string>[] = [
      { status: 'draft' },
      { identifier: `https://other.example|${id}` },
      { _id: idOf(id), status: 'completed' },
      { _id: idOf(id), 'authored-on': 'ge2999-01-01' },
      { _id: idOf(id), identifier: `req_${'0'.repeat(26)}` },
    ];
    for (const nothing of none) {
      expect(idsOf(await search(nothing)), JSON.stringify(nothing)).toEqual([]);
    }
  });

  it('is on one of the pages that a client follows', async () => {
    const made = [await gateway.submit(), await gateway.submit(), await gateway.submit()];
    const seen: (string | undefined)[] = [];
    let page: Bundle<Task> | undefined = await search({ _count: '2' });
    while (page && seen.length < 50) {
      seen.push(...idsOf(page));
      page = (await client.nextPage({ bundle: page as never })) as unknown as Bundle<Task>;
    }
    expect(seen).toEqual(expect.arrayContaining(made.map(idOf)));
    expect(new Set(seen).size).toBe(seen.length);
  });

  it('is visible only to its account, and if live not to test keys', async () => {
    const id = await gateway.submit();
    for (const key of [
      await gateway.key({ test: true }),
      await gateway.key({ accountId: 'other' }),
    ]) {
      const other = clientOf(key);
      expect(await refusal(other.read({ resourceType: 'Task', id: idOf(id) }))).toEqual({
        status: 404,
        code: 'not-found',
      });
      expect(idsOf(await search({ _id: idOf(id) }, other))).toEqual([]);
    }
  });
});

describe('the FHIR interface', () => {
  it('states its capabilities', async () => {
    const statement = (await client.capabilityStatement()) as unknown as CapabilityStatement;
    expect(validationErrors(statement)).toEqual([]);
    const [task] = statement.rest?.[0]?.resource ?? [];
    expect(task?.interaction?.map(({ code }) => code)).toEqual(['read', 'search-type']);
  });

  it.each([
    ['an unknown parameter', { patient: 'Patient/1' }, 400],
    ['a date without its prefix', { 'authored-on': '2026-01-01' }, 400],
    ['a count of zero', { _count: '0' }, 400],
    ['two ids', { _id: 'req-1,req-2' }, 400],
    ['two identifiers', { identifier: 'req_1,req_2' }, 400],
    ['a status that no Task has', { status: 'completed,done' }, 400],
    ['a cursor that was made up', { _cursor: 'x' }, 400],
  ])('refuses %s with an OperationOutcome', async (_, parameters, status) => {
    expect(await refusal(search(parameters as unknown as Record<string, string>))).toEqual({
      status,
      code: 'invalid',
    });
  });

  it('refuses a call without a key, or with one that may not read', async () => {
    expect(await refusal(search({}, clientOf('sk_wrong')))).toEqual({ status: 401, code: 'login' });
    const uploads = clientOf(await gateway.key({ scopes: ['uploads'] }));
    expect(await refusal(search({}, uploads))).toEqual({ status: 403, code: 'forbidden' });
  });
});
