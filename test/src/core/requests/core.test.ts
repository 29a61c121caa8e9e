import { access } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SubmitAudit } from '../../../../src/core/audit/audit.ts';
import { appendEvents } from '../../../../src/core/requests/events.ts';
import { purgeExpired } from '../../../../src/core/requests/expiry.ts';
import {
  claimRequest,
  endAllLeases,
  MAX_ATTEMPTS,
  MAX_CRASHES,
  releaseRequest,
} from '../../../../src/core/requests/lease.ts';
import type { SubmitCommand } from '../../../../src/core/requests/request.ts';
import { createSubmit } from '../../../../src/core/requests/submit.ts';
import { enterStage, STAGES, transition } from '../../../../src/core/requests/transitions.ts';
import type { Database } from '../../../../src/platform/database/port.ts';
import { createLogger, silentLogger } from '../../../../src/platform/logging/logger.ts';
import { openSite, type Site } from './site.ts';

let site: Site;

beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site.close());

const CALL: SubmitAudit = {
  at: new Date(),
  accountId: 'default',
  keyId: 'key_1',
  action: 'request.submit',
  status: 202,
  callId: 'call',
};

describe('submit', () => {
  it('stores the request with its cost and its first events', async () => {
    const id = await site.submit(
      'result',
      { metadata: { a: 'b' }, priority: 'high' },
      { report: true },
    );
    const events = await site.core.events.list(id, 0, 'http://site');
    expect(events.map(({ seq, name }) => [seq, name])).toEqual([
      [1, 'status'],
      [2, 'stage'],
      [3, 'stage'],
    ]);
    expect(await site.core.view(await site.row(id), 'http://site')).toMatchObject({
      id,
      object: 'request',
      model: 'us/test',
      endpoint: 'us/test/interpret',
      version: '1.0.0',
      status: 'queued',
      stage: { name: 'queued_gpu', progress: 0, eta_s: null },
      priority: 'high',
      metadata: { a: 'b' },
      cost: { currency: 'USD', total: '0.10' },
      output: null,
      error: null,
      started_at: null,
      urls: { self: `http://site/v1/requests/${id}` },
    });
  });

  it('shows neither local files nor other internals', async () => {
    const id = await site.submit();
    const shown = await site.core.view(await site.row(id), 'http://site');
    expect(Object.keys(shown).sort()).toEqual(
      [
        'cost created_at ended_at endpoint error expires_at id input key metadata model object',
        'output priority source stage started_at status test urls version webhook withdrawal',
      ]
        .join(' ')
        .split(' '),
    );
    expect(JSON.stringify(shown)).not.toContain(site.file);
  });

  it.each([
    ['an unknown field', { files: ['f'], colour: 1 }, '/input/colour'],
    ['no file', { files: [] }, '/input/files'],
    ['a wrong type', { files: [1] }, '/input/files/0'],
  ])('refuses %s with a pointer to it', async (_, input, pointer) => {
    const command = { ...site.command(), input: input as SubmitCommand['input'] };
    await expect(site.core.submit(command)).rejects.toMatchObject({
      code: 'invalid_input',
      errors: [{ pointer }],
    });
  });

  it.each(['../a.dcm', 'a/b.dcm', '..', '', 'a\\b', 'a\u0000', 'a'.repeat(221), 'é'.repeat(111)])(
    'refuses %j as the name of a file',
    async (name) => {
      const files = [{ name, path: site.file, sha256: '' }];
      await expect(site.submit('result', { files })).rejects.toMatchObject({
        errors: [{ pointer: '/input/files/0' }],
      });
    },
  );

  it.each(['a'.repeat(220), 'é'.repeat(110), '...'])(
    'accepts %j as the name of a file',
    async (name) => {
      const files = [{ name, path: site.file, sha256: '' }];
      await expect(site.submit('result', { files })).resolves.toMatch(/^req_/);
    },
  );

  it('refuses two files with the same name', async () => {
    const file = { name: 'a.dcm', path: site.file, sha256: '' };
    await expect(site.submit('result', { files: [file, file] })).rejects.toMatchObject({
      errors: [{ pointer: '/input/files/1' }],
    });
  });

  it('refuses identifiers in the indication', async () => {
    const { input } = site.command();
    const indication = 'follow-up of 12.03.2026';
    const command = { ...site.command(), input: { ...input, clinical_context: { indication } } };
    await expect(site.core.submit(command)).rejects.toMatchObject({
      code: 'identifiers_in_context',
      errors: [{ pointer: '/input/clinical_context/indication' }],
    });
  });

  it('returns the first request again for the same unique key, even under concurrency', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => site.submit('result', { uniqueKey: 'study-1' })),
    );
    expect(new Set(answers).size).toBe(1);
    expect(await site.core.events.list(answers[0] ?? '', 0, '')).toHaveLength(3);
  });

  it('audits every submit of one unique key, each under the request that answered it', async () => {
    const audit = (n: number) => ({ ...CALL, callId: `call-${n}` });
    const ids = await Promise.all(
      [1, 2, 3].map((n) => site.submit('result', { uniqueKey: 'audited', audit: audit(n) })),
    );
    const { rows } = await site.database.query(
      'SELECT call_id FROM audit WHERE request_id = $1 ORDER BY call_id',
      [ids[0]],
    );
    expect(rows).toEqual([{ call_id: 'call-1' }, { call_id: 'call-2' }, { call_id: 'call-3' }]);
  });

  it('stores no request that cannot be audited', async () => {
    const audit = { ...CALL, status: Number.NaN };
    await expect(site.submit('result', { uniqueKey: 'unwritten', audit })).rejects.toThrow();
    const { rows } = await site.database.query(
      "SELECT FROM requests WHERE unique_key = 'unwritten'",
    );
    expect(rows).toEqual([]);
  });

  it('accepts while the queue cannot be reached', async () => {
    const submit = createSubmit({
      database: site.database,
      queue: { add: () => Promise.reject(new Error('down')) },
      endpoints: site.core.endpoints(),
      logger: silentLogger,
      now: () => new Date(),
    });
    const { id } = await submit(site.command());
    expect(await site.row(id)).toMatchObject({ status: 'queued', enqueued_at: null });
  });
});

describe('accounts', () => {
  it('see only their own requests', async () => {
    const id = await site.submit('result', { accountId: 'acc_mine' });
    expect(await site.core.get(id, 'acc_other')).toBeNull();
    expect((await site.core.get(id, 'acc_mine'))?.id).toBe(id);
    expect((await site.core.get(id, null))?.id).toBe(id);
  });

  it('page through their history, newest first, undisturbed by new requests', async () => {
    const accountId = 'acc_history';
    const ids: string[] = [];
    for (let i = 0; i < 5; i += 1) ids.unshift(await site.submit('result', { accountId }));
    const first = await site.core.history({ accountId, limit: 2 });
    await site.submit('result', { accountId });
    const second = await site.core.history({
      accountId,
      limit: 3,
      cursor: first.nextCursor ?? undefined,
    });
    expect([...first.rows, ...second.rows].map(({ id }) => id)).toEqual(ids);
    expect(second.nextCursor).toBeNull();
  });

  it('find those of several statuses, and those since a time, in the order of their history', async () => {
    const accountId = 'acc_statuses';
    const [first, second, third] = [
      await site.submit('result', { accountId }),
      await site.submit('result', { accountId }),
      await site.submit('result', { accountId }),
    ];
    await site.core.cancel(second, accountId);
    const idsOf = async (filter: Partial<Parameters<typeof site.core.history>[0]>) =>
      (await site.core.history({ accountId, limit: 10, ...filter })).rows.map(({ id }) => id);
    expect(await idsOf({ status: ['canceled', 'queued', 'queued'] })).toEqual([
      third,
      second,
      first,
    ]);
    expect(await idsOf({ status: ['canceled'] })).toEqual([second]);
    const since = (await site.row(second)).created_at;
    expect(await idsOf({ since })).toEqual(expect.arrayContaining([third, second]));
    expect(await idsOf({ since: new Date(Date.now() + 60_000) })).toEqual([]);
  });
});

describe('the event log', () => {
  it('has no gaps when many write at once, and some fail', async () => {
    const id = await site.submit();
    const at = new Date();
    const write = (i: number) =>
      site.database.transaction(async (tx) => {
        await appendEvents(tx, id, at, [{ name: 'stage', data: STAGES.starting }]);
        if (i % 5 === 0) throw new Error('rolled back');
      });
    await Promise.allSettled(Array.from({ length: 50 }, (_, i) => write(i)));
    const seqs = (await site.core.events.list(id, 0, '')).map(({ seq }) => seq);
    expect(seqs).toEqual(Array.from({ length: 43 }, (_, i) => i + 1));
  });

  it('replays exactly what followed an event', async () => {
    const id = await site.submit();
    expect((await site.core.events.list(id, 2, '')).map(({ seq }) => seq)).toEqual([3]);
    expect(await site.core.events.list(id, 3, '')).toEqual([]);
  });

  it('is followed live to its end', async () => {
    const id = await site.submit();
    const following = site.follow(id);
    await site.core.cancel(id, null);
    expect((await following).slice(-2)).toMatchObject([
      { name: 'status', data: { status: 'canceled', previous: 'queued' } },
      { name: 'done', data: { id, status: 'canceled' } },
    ]);
  });

  it('is no longer followed when the reader leaves', async () => {
    const id = await site.submit();
    const reader = new AbortController();
    const events = [];
    for await (const event of site.core.events.follow(id, 0, '', reader.signal)) {
      events.push(event);
      // Aborts while it waits for a fourth event, which never arrives.
      if (events.length === 3) setTimeout(() => reader.abort(), 50);
    }
    expect(events).toHaveLength(3);
  });
});

describe('waiting for a change', () => {
  it('ends with the change', async () => {
    const row = await site.row(await site.submit());
    const waiting = site.core.waitForChange(row, 30);
    await site.core.cancel(row.id, null);
    expect((await waiting).status).toBe('canceled');
  });

  it('ends after its time, and at once for what has already changed', async () => {
    const row = await site.row(await site.submit());
    expect((await site.core.waitForChange(row, 0.05)).status).toBe('queued');
    await site.core.cancel(row.id, null);
    expect((await site.core.waitForChange(row, 30)).status).toBe('canceled');
  });
});

describe('transitions', () => {
  it('not in the table are refused and leave no trace', async () => {
    const id = await site.submit();
    const jump = site.database.transaction((tx) =>
      transition(tx, id, 'succeeded', { at: new Date() }),
    );
    await expect(jump).rejects.toThrow('cannot go from queued to succeeded');
    expect(await site.core.events.list(id, 3, '')).toEqual([]);
  });

  it('are refused to a worker that was superseded', async () => {
    const id = await site.submit();
    const first = await claimRequest(site.database, id, new Date());
    await site.database.query(
      "UPDATE requests SET lease_until = now() - interval '1 s' WHERE id = $1",
      [id],
    );
    const second = await claimRequest(site.database, id, new Date());
    expect([first?.attempts, second?.attempts]).toEqual([1, 2]);
    const late = site.database.transaction((tx) =>
      enterStage(tx, id, first?.attempts ?? 0, STAGES.starting, new Date()),
    );
    await expect(late).rejects.toThrow('no longer ours');
  });

  it('a request that a live worker has claimed is not claimed again', async () => {
    const id = await site.submit();
    expect(await claimRequest(site.database, id, new Date())).not.toBeNull();
    expect(await claimRequest(site.database, id, new Date())).toBeNull();
  });

  it.each([
    ['at the next start', endAllLeases],
    [
      'by another worker',
      (database: Database) =>
        database.query(
          "UPDATE requests SET lease_until = now() - interval '1 s' WHERE lease_until IS NOT NULL",
        ),
    ],
  ])('a request lost with its gateway is claimed again %s, however often', async (_, ends) => {
    const id = await site.submit();
    for (let attempt = 1; attempt <= 3 * MAX_ATTEMPTS; attempt += 1) {
      expect(await claimRequest(site.database, id, new Date())).toMatchObject({
        attempts: attempt,
      });
      await ends(site.database);
    }
    await site.core.cancel(id, null);
  });

  it('a request that found the disk full fails at the fifth time, not before', async () => {
    const id = await site.submit();
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      expect(await claimRequest(site.database, id, new Date())).toMatchObject({
        attempts: attempt,
      });
      await releaseRequest(site.database, id, attempt, 'out-of-space');
    }
    expect(await claimRequest(site.database, id, new Date())).toBeNull();
    expect(await site.row(id)).toMatchObject({
      status: 'failed',
      attempts: MAX_ATTEMPTS,
      fault: { code: 'pipeline_crashed' },
    });
  });

  it('a request whose pipeline process died twice fails with pipeline_crashed', async () => {
    const id = await site.submit();
    for (let crash = 1; crash <= MAX_CRASHES; crash += 1) {
      const row = await claimRequest(site.database, id, new Date());
      await releaseRequest(site.database, id, row?.attempts ?? 0, 'crashed');
    }
    expect(await claimRequest(site.database, id, new Date())).toBeNull();
    expect(await site.row(id)).toMatchObject({
      status: 'failed',
      attempts: MAX_CRASHES,
      fault: { code: 'pipeline_crashed' },
    });
  });
});

describe('retention', () => {
  it('purges result and input after the configured days and not before, but keeps row and cost', async () => {
    // The high priority makes it run before everything that other tests have left in the queue.
    const id = await site.submit('result', { priority: 'high' });
    await site.startWorker();
    await site.follow(id);
    const row = await site.row(id);
    await site.database.query(
      `UPDATE requests SET deliver_to =
         '[{"kind": "fhir", "destination": "ehr", "object": "fhir-bundle"}]' WHERE id = $1`,
      [id],
    );
    const warned: string[] = [];
    const purgeAt = (milliseconds: number) =>
      purgeExpired({
        database: site.database,
        blobs: site.blobs,
        config: site.config,
        logger: createLogger('warn', { write: (line) => warned.push(line) }),
        now: () => new Date((row.expires_at?.getTime() ?? 0) + milliseconds),
      });
    const path = (await site.core.artifactPath(id, 'result.json')) ?? '';
    expect((row.expires_at?.getTime() ?? 0) - (row.ended_at?.getTime() ?? 0)).toBe(
      site.config.retention.days * 86_400_000,
    );

    await purgeAt(-1);
    expect((await site.row(id)).status).toBe('succeeded');
    await access(path);

    await purgeAt(0);
    expect(await site.row(id)).toMatchObject({ status: 'expired', input: null, cost: row.cost });
    expect(warned.map((line) => JSON.parse(line))).toMatchObject([
      { event: 'result_never_signed', request: id, destinations: 'ehr' },
    ]);
    await expect(access(path)).rejects.toThrow('ENOENT');
    expect(await site.core.artifacts(id)).toEqual([]);
    expect(await site.core.result(id)).toBeNull();
    expect(JSON.stringify(await site.core.events.list(id, 0, ''))).not.toContain('A flag');
  });
});
