import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { beforeEach, describe, expect, test } from 'vitest';
import type { FhirDestination } from '../../../config/schema.ts';
import { silentLogger } from '../../../src/platform/logging/logger.ts';
import { PATIENT, REQUEST, withEhr } from '../delivering.ts';
import { sampleMeasurement, sampleResult, sampleSubject } from '../sample.ts';

const site = withEhr();
const { deliverer, send } = site;

describe('the PDF', () => {
  beforeEach(() => site.ehr.put(PATIENT));

  test('is sent inline up to the limit', async () => {
    await send(deliverer());
    expect(await site.ehr.all('Binary')).toEqual([]);
    const [report] = await site.ehr.all('DiagnosticReport');
    expect(report?.presentedForm?.[0]?.data).toBeDefined();
  });

  test('is one Binary over the limit, even after a retry', async () => {
    const to = deliverer({ inlinePdfMegabytes: 0 });
    await send(to);
    await send(to);
    const [binary, ...others] = await site.ehr.all('Binary');
    expect(others).toEqual([]);
    const [report] = await site.ehr.all('DiagnosticReport');
    expect(report?.presentedForm?.[0]).toMatchObject({ url: `Binary/${binary?.id}` });
    expect(report?.presentedForm?.[0]?.data).toBeUndefined();
  });

  describe('as a Binary', () => {
    const small = Buffer.from('%PDF-1.4 specimen');
    const large = Buffer.alloc(1_000_000, '%PDF-1.4 ');
    const refused = { kind: 'status', status: 422 } as const;

    /** How often the PDF was sent as a resource, and as its bytes. */
    const forms = () => {
      const sent = site.ehr.calls.filter(({ path }) => path === '/Binary');
      return [sent.filter((one) => !one.content).length, sent.filter((one) => one.content).length];
    };
    const sendStored = (pdf: Buffer) => send(deliverer({ inlinePdfMegabytes: 0 }, undefined, pdf));

    test.each([
      ['a small one is sent as a resource', small, 0, [1, 0]],
      ['a small one is sent as its bytes if the resource is refused', small, 1, [1, 1]],
      ['one longer than a FHIR string is sent as its bytes', large, 0, [0, 1]],
    ])('%s', async (_, pdf, refusals, expected) => {
      site.ehr.fail('POST /Binary', refused, refusals);
      expect(await sendStored(pdf)).toMatchObject({ outcome: 'delivered' });
      expect(forms()).toEqual(expected);
      const [binary] = await site.ehr.all('Binary');
      const [patient] = await site.ehr.all('Patient');
      expect(binary).toMatchObject({
        contentType: 'application/pdf',
        securityContext: { reference: `Patient/${patient?.id}` },
      });
      const content = site.ehr.calls.find((one) => one.content)?.content;
      if (content) expect(content.equals(pdf)).toBe(true);
    });

    test('a connection lost while the second form is sent is tried again, not held', async () => {
      site.ehr.fail('POST /Binary', refused);
      site.ehr.fail('POST /Binary', { kind: 'cut-before' });
      expect(await sendStored(small)).toMatchObject({ code: 'ehr_ambiguous' });
    });

    test('a report whose PDF is refused in both forms is held, with the first response', async () => {
      site.ehr.fail('POST /Binary', refused);
      site.ehr.fail('POST /Binary', { kind: 'status', status: 400 });
      expect(await sendStored(small)).toMatchObject({
        code: 'ehr_rejected',
        detail: expect.stringContaining('422'),
      });
      expect(forms()).toEqual([1, 1]);
    });
  });

  test('is sent again as a Binary if it makes the body too large', async () => {
    site.ehr.fail('POST /', { kind: 'status', status: 413 });
    expect(await send(deliverer())).toMatchObject({ outcome: 'delivered' });
    expect(await site.ehr.all('Binary')).toHaveLength(1);
  });
});

describe('key images', () => {
  const artifacts = ['overlay-biometry-1.png', 'overlay-biometry-2.png', 'growth-chart.png'].map(
    (name) => ({ name, media_type: 'image/png', bytes: 600_000, sha256: '', section: 'biometry' }),
  );
  const head = sampleMeasurement('hc', 280.1, 'hc-ellipse');
  const femur = sampleMeasurement('fl', 58.2, 'fl-outer-outer', {
    source: { ...head.source, frame: 2 },
  });
  const measurements = [head, femur];

  beforeEach(async () => {
    await site.ehr.put(PATIENT);
    for (const { name } of artifacts) await writeFile(join(site.folder, name), await picture);
  });

  /** A large PNG that compresses badly; its key image is about 320 kB. */
  const picture = sharp({
    create: {
      width: 1200,
      height: 900,
      channels: 3,
      background: 'black',
      noise: { type: 'gaussian', mean: 128, sigma: 40 },
    },
  })
    .png({ compressionLevel: 1 })
    .toBuffer();

  const withImages = (settings: Partial<FhirDestination> = {}) =>
    deliverer(settings, sampleSubject(REQUEST), null, silentLogger, {
      result: async () => sampleResult({ artifacts, measurements, findings: [] }),
      artifactPath: async (_, name) => join(site.folder, name),
    });

  test('are the previews with calipers, each of them once', async () => {
    const to = withImages();
    await send(to);
    await send(to);
    const media = await site.ehr.all('Media');
    expect(media).toHaveLength(2);
    for (const { content } of media) {
      expect(content.contentType).toBe('image/jpeg');
      const picture = await sharp(Buffer.from(content.data ?? '', 'base64')).metadata();
      expect(picture).toMatchObject({ width: 960, height: 720 });
    }
    const [report] = await site.ehr.all('DiagnosticReport');
    expect(report?.media?.map((m) => m.link.reference).sort()).toEqual(
      media.map((m) => `Media/${m.id}`).sort(),
    );
  });

  test('may not be replaced if a person has marked one as wrong', async () => {
    const to = withImages();
    await send(to);
    const [picture] = await site.ehr.all('Media');
    if (!picture) throw new Error('no picture');
    await site.ehr.put({ ...picture, status: 'entered-in-error' });
    expect(await send(to)).toMatchObject({
      failure: 'permanent',
      code: 'ehr_already_verified',
      detail: `Media/${picture.id} has status "entered-in-error"`,
    });
  });

  test('are left out beyond the inline limit, and if the body is too large', async () => {
    await send(withImages({ inlinePdfMegabytes: 0.5 }));
    expect(await site.ehr.all('Media')).toHaveLength(1);
    site.ehr.fail('POST /', { kind: 'status', status: 413 });
    await send(withImages());
    const [report] = await site.ehr.all('DiagnosticReport');
    expect(report?.media).toBeUndefined();
  });
});
