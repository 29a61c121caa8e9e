import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { FhirDestination } from '../../../config/schema.ts';
import { createLogger } from '../../../src/platform/logging/logger.ts';
import { startFhirServer } from '../../peers/fhir-server.ts';
import { PATIENT, REQUEST, withEhr } from '../delivering.ts';
import { PATIENT_ID, sampleSubject } from '../sample.ts';

const site = withEhr();
const { deliverer, send } = site;

describe('credentials', () => {
  const SECRET = 's3cr3t-token';

  test.each<[string, (file: string) => FhirDestination['authorization'], string]>([
    ['bearer', (tokenFile) => ({ type: 'bearer', tokenFile }), `Bearer ${SECRET}`],
    [
      'basic',
      (passwordFile) => ({ type: 'basic', user: 'gw', passwordFile }),
      `Basic ${Buffer.from(`gw:${SECRET}`).toString('base64')}`,
    ],
  ])('are sent with every request: %s from a file', async (_, authorization, expected) => {
    const file = join(site.folder, 'secret');
    await writeFile(file, `${SECRET}\n`);
    await site.ehr.put(PATIENT);
    await send(deliverer({ authorization: authorization(file) }));
    expect(new Set(site.ehr.calls.map((call) => call.headers.authorization))).toEqual(
      new Set([expected]),
    );
  });

  test('are not sent to an address to which the EHR redirects', async () => {
    const elsewhere = await startFhirServer();
    const file = join(site.folder, 'secret');
    await writeFile(file, SECRET);
    const location = `${elsewhere.baseUrl}/Patient/_search`;
    site.ehr.fail('POST /Patient/_search', { kind: 'status', status: 307, headers: { location } });
    const to = deliverer({ authorization: { type: 'bearer', tokenFile: file } });
    expect(await send(to)).toMatchObject({ code: 'ehr_misconfigured' });
    expect(elsewhere.calls).toEqual([]);
    await elsewhere.close();
  });

  test('do not appear in log lines and outcomes, and neither does the patient', async () => {
    const file = join(site.folder, 'secret');
    await writeFile(file, SECRET);
    const said: string[] = [];
    const logger = createLogger('debug', { write: (line: string) => void said.push(line) });
    const authorization = { type: 'bearer', tokenFile: file } as const;
    const to = deliverer({ authorization }, sampleSubject(REQUEST), null, logger);
    said.push(JSON.stringify(await send(to)));
    await site.ehr.put({ ...PATIENT, birthDate: '1991-01-01' });
    said.push(JSON.stringify(await send(to)));
    await site.ehr.put({ ...PATIENT, id: (await site.ehr.all('Patient'))[0]?.id });
    for (const status of [401, 422, 200]) {
      site.ehr.fail('POST /', { kind: 'status', status, body: { patient: PATIENT_ID } });
      said.push(JSON.stringify(await send(to)));
    }
    said.push(JSON.stringify(await send(to)));
    expect(said.at(-1)).toContain('delivered');
    expect(said.join()).not.toMatch(
      new RegExp(`${SECRET}|${PATIENT_ID}|M.ller|1990-04-02|1991-01-01`, 'i'),
    );
  });

  test('are an authorization failure if their file is missing', async () => {
    const to = deliverer({
      authorization: { type: 'bearer', tokenFile: join(site.folder, 'none') },
    });
    expect(await send(to)).toMatchObject({ code: 'ehr_unauthorized' });
  });
});
