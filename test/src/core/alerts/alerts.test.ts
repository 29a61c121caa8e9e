import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SMTPServer } from 'smtp-server';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Alerts, alertsSchema } from '../../../../config/alerts.ts';
import {
  acknowledgeFlags,
  escalateAlerts,
  raiseAlert,
} from '../../../../src/core/alerts/alerts.ts';
import { createMailDeliverer } from '../../../../src/core/alerts/deliver.ts';
import { listDeliveries } from '../../../../src/core/outbox/deliveries.ts';
import { type Outbox, startOutbox } from '../../../../src/core/outbox/outbox.ts';
import { silentLogger as logger } from '../../../../src/platform/logging/logger.ts';
import { createMailer } from '../../../../src/platform/outbound/mail.ts';
import { makeAuthority, OPENSSL_INSTALLED } from '../../../peers/certificates.ts';
import { openSite, type Site } from '../requests/site.ts';

interface ReceivedMail {
  to: string[];
  text: string;
}

/** Decodes soft line breaks and equals signs in quoted-printable text (RFC 2045 6.7). */
const decoded = (text: string) => text.replaceAll('=\r\n', '').replaceAll('=3D', '=');

async function startMailServer(files: { cert: Buffer | string; key: Buffer | string }) {
  const received: ReceivedMail[] = [];
  const refusals: { code: number; text: string }[] = [];
  const deferred = new Set<string>();
  const server = new SMTPServer({
    ...files,
    authMethods: ['PLAIN'],
    onAuth: ({ username, password }, _session, done) =>
      username === 'sonogate' && password === 'secret'
        ? done(null, { user: username })
        : done(new Error('wrong password')),
    onRcptTo: ({ address }, _session, done) =>
      deferred.delete(address)
        ? done(Object.assign(new Error('greylisted'), { responseCode: 450 }))
        : done(),
    onData: (stream, { envelope }, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const refusal = refusals.shift();
        if (refusal) {
          return done(Object.assign(new Error(refusal.text), { responseCode: refusal.code }));
        }
        const to = envelope.rcptTo.map(({ address }) => address);
        received.push({ to, text: decoded(Buffer.concat(chunks).toString('utf8')) });
        done();
      });
    },
  });
  server.on('error', () => {});
  const port = await new Promise<number>((resolve) => {
    const listening = server.listen(0, '127.0.0.1', () => {
      const address = listening.address();
      resolve(typeof address === 'object' && address ? address.port : 0);
    });
  });
  return {
    port,
    received,
    /** Replies with which the next mails are refused. */
    refusals,
    /** Recipients who are deferred once. */
    deferred,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

describe.skipIf(!OPENSSL_INSTALLED)('a critical flag', () => {
  let site: Site;
  let server: Awaited<ReturnType<typeof startMailServer>>;
  let alerts: Alerts;
  let outbox: Outbox;
  const folder = mkdtempSync(join(tmpdir(), 'sonogate-mail-'));
  const passwordFile = join(folder, 'password');

  beforeAll(async () => {
    writeFileSync(passwordFile, 'secret\n');
    const authority = makeAuthority(folder);
    const { certFile, keyFile } = authority.issue('smtp');
    server = await startMailServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) });
    alerts = alertsSchema.parse({
      server: {
        host: '127.0.0.1',
        port: server.port,
        serverName: 'smtp.hospital.example',
        caFile: authority.caFile,
        user: 'sonogate',
        password: { file: passwordFile },
      },
      from: 'sonogate@hospital.example',
      lists: [
        {
          name: 'on-call',
          to: ['a@Hospital.Example', 'b@Hospital.Example'],
          endpoints: ['us/test/interpret'],
          escalation: { afterMinutes: 30, to: ['chief@hospital.example'] },
        },
        { name: 'ward', to: ['ward@hospital.example'], sources: ['ward-3'] },
        { name: 'echo', to: ['echo@hospital.example'], endpoints: ['us/echo'] },
      ],
    });
    site = await openSite();
    Object.assign(site.config, { alerts });
    await site.startWorker();
  });
  afterAll(async () => {
    await site.close();
    await server.close();
  });

  beforeEach(async () => {
    server.received.length = 0;
    await site.database.query('DELETE FROM deliveries');
    await site.database.query('DELETE FROM destination_breakers');
    outbox = await startOutbox({
      database: site.database,
      deliverers: [
        createMailDeliverer({
          database: site.database,
          alerts,
          mailer: createMailer(alerts.server),
          subjectOf: async () => null,
          titleOf: () => 'Test examination',
          consoleUrl: 'https://gateway.example/console',
        }),
      ],
      config: {
        delivery: { ...site.config.delivery, retryBaseSeconds: 0.01, retryCapSeconds: 0.1 },
      },
      logger,
    });
  });
  afterEach(async () => {
    writeFileSync(passwordFile, 'secret\n');
    await outbox.stop();
  });

  const flagged = async () => {
    const id = await site.submit();
    await site.until(id, 'succeeded');
    return id;
  };
  const deliveries = async () =>
    (await listDeliveries(site.database)).filter(({ kind }) => kind === 'mail');
  const states = async () => (await deliveries()).map(({ state, code }) => code ?? state);
  const settings = () => ({ ...site.config, alerts });
  const minutesPass = (minutes: number) =>
    site.database.query(
      'UPDATE deliveries SET created_at = created_at - make_interval(mins => $1)',
      [minutes],
    );

  it('is mailed over TLS, with the password, to the list of its endpoint', async () => {
    const id = await flagged();
    await expect.poll(states, { timeout: 20_000 }).toEqual(['delivered']);
    expect(await deliveries()).toMatchObject([
      { destination: 'alert:on-call', object: 'alert biometry 1', detail: '2 recipients' },
    ]);
    expect(server.received).toMatchObject([{ to: ['a@hospital.example', 'b@hospital.example'] }]);
    const text = server.received[0]?.text ?? '';
    expect(text).toContain('Subject: Critical finding: A flag');
    expect(text).toContain(`https://gateway.example/console/worklist/${id}`);
    expect(text).toMatch(/^Message-ID: <dlv_\w+@hospital\.example>\r$/im);
  });

  it('made with a test key, or of another endpoint or source, raises no alert', async () => {
    const row = await site.row(await flagged());
    await site.database.query('DELETE FROM deliveries');
    const raise = (changes: Partial<typeof row>) =>
      raiseAlert(site.database, { ...row, ...changes }, { section: 'a', code: '1' }, settings());
    await raise({ test: true });
    await raise({ endpoint: 'us/other/interpret', model: 'us/other' });
    expect(await deliveries()).toEqual([]);
    await raise({ endpoint: 'us/echo/interpret', model: 'us/echo' });
    expect(await deliveries()).toMatchObject([{ destination: 'alert:echo' }]);
  });

  it('is mailed again after a temporary failure, and abandoned after a refusal', async () => {
    server.refusals.push({ code: 451, text: 'busy' });
    await flagged();
    await expect.poll(states, { timeout: 20_000 }).toEqual(['delivered']);
    expect(server.received).toHaveLength(1);
    server.refusals.push({ code: 554, text: 'no such thing' });
    await flagged();
    await expect.poll(states, { timeout: 20_000 }).toEqual(['mail_refused', 'delivered']);
  });

  it('is mailed again only to the recipient who was deferred', async () => {
    server.deferred.add('b@hospital.example');
    await flagged();
    await expect.poll(states, { timeout: 20_000 }).toEqual(['delivered']);
    expect(server.received.map(({ to }) => to)).toEqual([
      ['a@hospital.example'],
      ['b@hospital.example'],
    ]);
    expect(server.received[1]?.text).toContain('To: a@hospital.example, b@hospital.example');
    expect((await deliveries())[0]?.detail).toBe('2 recipients');
  });

  it('waits while the server refuses the password, and is mailed with a new password', async () => {
    writeFileSync(passwordFile, 'wrong\n');
    await flagged();
    await expect.poll(states, { timeout: 20_000 }).toEqual(['mail_unauthorized']);
    writeFileSync(passwordFile, 'secret\n');
    await expect.poll(states, { timeout: 20_000 }).toEqual(['delivered']);
  });

  it('that nobody acknowledges is escalated once, after the time configured for the list', async () => {
    await flagged();
    await minutesPass(29);
    expect(await escalateAlerts(site.database, settings())).toBe(0);
    await minutesPass(2);
    expect(await escalateAlerts(site.database, settings())).toBe(1);
    expect(await escalateAlerts(site.database, settings())).toBe(0);
    await expect.poll(states, { timeout: 20_000 }).toEqual(['delivered', 'delivered']);
    expect(server.received.at(-1)?.to).toEqual(['chief@hospital.example']);
    expect(server.received.at(-1)?.text).toContain('not acknowledged for 30 minutes');
  });

  it('that somebody has acknowledged is not escalated', async () => {
    const id = await flagged();
    const by = { person: 'Dr Ann', at: new Date() };
    expect(await acknowledgeFlags(site.database, id, by)).toBe(true);
    await minutesPass(31);
    expect(await escalateAlerts(site.database, settings())).toBe(0);
  });

  it('that was acknowledged on a later revision of the study is not escalated', async () => {
    const [first, second] = [await flagged(), await flagged()];
    const study = randomUUID();
    await site.database.query(
      `INSERT INTO studies (id, study_instance_uid, source, calling_ae_title, called_ae_title, state,
         identity, first_received_at, last_received_at, complete_after)
       VALUES ($1, '1.2.3', 'cart', 'CART', 'SONOGATE', 'submitted', '{}', now(), now(), now())`,
      [study],
    );
    for (const [index, id] of [first, second].entries()) {
      await site.database.query(
        `INSERT INTO study_requests (study_id, revision, rule, request_id, submitted_at)
         VALUES ($1, $2, 'all', $3, now())`,
        [study, index + 1, id],
      );
    }
    await minutesPass(31);
    const by = { person: 'Dr Ann', at: new Date() };
    await acknowledgeFlags(site.database, first, by);
    expect(await escalateAlerts(site.database, settings())).toBe(1);
    await site.database.query(`DELETE FROM deliveries WHERE object = 'escalation'`);
    await site.database.query('DELETE FROM triage_acknowledgements');
    await acknowledgeFlags(site.database, second, by);
    expect(await escalateAlerts(site.database, settings())).toBe(0);
    // The later revision has another flag, and nobody has seen the flag of the first one.
    await site.database.query(
      `UPDATE request_events SET data = data || '{"code": "2"}'
       WHERE request_id = $1 AND name = 'triage'`,
      [second],
    );
    expect(await escalateAlerts(site.database, settings())).toBe(1);
  });

  it.each([
    ['certificate authority', { caFile: '/nowhere/ca.crt' }],
    ['password', { password: { file: '/nowhere/password' } }],
  ])('is not mailed without the file of the %s, and the error names it', async (_, missing) => {
    await expect(createMailer({ ...alerts.server, ...missing }).check()).rejects.toMatchObject({
      code: 'mail_files_unreadable',
      message: expect.stringContaining('/nowhere/'),
    });
  });

  it('that is acknowledged while the escalation waits for the server is not mailed', async () => {
    const id = await flagged();
    await expect.poll(states, { timeout: 20_000 }).toEqual(['delivered']);
    await outbox.stop();
    await minutesPass(31);
    await escalateAlerts(site.database, settings());
    await acknowledgeFlags(site.database, id, { person: 'Dr Ann', at: new Date() });
    const { send } = createMailDeliverer({
      database: site.database,
      alerts,
      mailer: createMailer(alerts.server),
      subjectOf: async () => null,
      titleOf: () => 'Test examination',
      consoleUrl: null,
    });
    const delivery = {
      id: 'dlv_1',
      requestId: id,
      kind: 'mail',
      destination: 'alert:on-call',
      object: 'escalation',
      resultRevision: 0,
      attempt: 1,
    } as const;
    expect(await send(delivery, new AbortController().signal)).toEqual({
      outcome: 'delivered',
      notSent: true,
      detail: 'Not sent: the finding has been acknowledged in the meantime.',
    });
    expect(server.received).toHaveLength(1);
  });

  it('cannot be acknowledged if a request has none', async () => {
    const by = { person: 'Dr Ann', at: new Date() };
    expect(await acknowledgeFlags(site.database, 'req_none', by)).toBe(false);
  });
});
