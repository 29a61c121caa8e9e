import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildEncapsulatedPdf } from '../../../../pipelines/artifacts/pdf/encapsulated-pdf.ts';
import { walk } from '../../../../pipelines/artifacts/sr/content-item.ts';
import { decode } from '../../../../pipelines/artifacts/sr/decode.ts';
import { checkTemplate } from '../../../../pipelines/artifacts/sr/template-check.ts';
import { buildTid1500 } from '../../../../pipelines/artifacts/sr/tid1500.ts';
import { buildTid5000 } from '../../../../pipelines/artifacts/sr/tid5000.ts';
import { buildTid5200 } from '../../../../pipelines/artifacts/sr/tid5200.ts';
import { CONCEPTS } from '../../../../pipelines/concepts/concepts.ts';
import type { Subject } from '../../../../pipelines/dicom/subject.ts';
import type { Result } from '../../../../pipelines/result/envelope.ts';
import { findStudy } from '../../../../src/core/studies/study-store.ts';
import { subjectOfStudy } from '../../../../src/core/studies/subject.ts';
import { sendBuffer } from '../../../dimse/send.ts';
import { openSite, type Site } from '../../../dimse/site.ts';
import { measurement } from '../../../pipelines/artifacts/example-measurements.ts';
import { RESULT } from '../../../pipelines/artifacts/example-result.ts';
import { SUBJECT } from '../../../pipelines/artifacts/example-subject.ts';
import { asFile, installed, run } from '../../../pipelines/artifacts/programs.ts';
import { sourceImage } from '../../../pipelines/artifacts/source-image.ts';

/**
 * Objects that the machine sends together with its image: its structured report and a PDF, neither
 * of which has pixels.
 */
const MACHINE: Subject = { ...SUBJECT, requestId: 'of the machine' };
const REPORT = buildTid5000(RESULT, MACHINE);
const DOCUMENT = buildEncapsulatedPdf(RESULT, MACHINE, Buffer.from('%PDF-1.4 specimen'));

const reportUid = String(decode(REPORT).header.SOPInstanceUID);
const [head] = SUBJECT.instances;

let site: Site;
let subject: Subject;

beforeAll(async () => {
  site = await openSite();
  for (const object of [sourceImage(), REPORT, DOCUMENT]) {
    expect(await sendBuffer(site.node, object)).toMatchObject({ outcome: 'stored' });
  }
  const study = await findStudy(site.database, SUBJECT.identity?.StudyInstanceUID ?? '');
  if (!study) throw new Error('the study is not there');
  const { id, revision } = study;
  const found = await subjectOfStudy(site.database, {
    requestId: 'req_mixed',
    study: id,
    revision,
  });
  if (!found) throw new Error('the study has no subject');
  subject = found;
});
afterAll(() => site.close());

/** A result with maternal, fetal and cardiac values from the machine's report. */
const CART: Result = {
  ...RESULT,
  measurements: (['hc', 'efw', 'lvidd'] as const).map((key) =>
    measurement(`cart-${key}`, key, 42, {
      unit: CONCEPTS[key].unit,
      method: 'cart-sr',
      source: {
        provenance: 'cart-sr',
        file: 'report.dcm',
        sop_instance_uid: reportUid,
        frame: null,
        calipers: [],
      },
    }),
  ),
};

test('the subject contains everything that arrived, each with the modality of its series', () => {
  expect(subject.instances.map(({ modality, rows }) => [modality, rows > 0])).toEqual([
    ['US', true],
    ['SR', false],
    ['DOC', false],
  ]);
});

describe.each([
  ['TID 1500', buildTid1500],
  ['TID 5000', buildTid5000],
  ['TID 5200', buildTid5200],
] as const)('%s of a study with an image, a structured report and a PDF', (_, build) => {
  test('refers only to the image', () => {
    const images = [...walk(decode(build(CART, subject)).root)].flatMap(({ value }) =>
      value.type === 'IMAGE' ? [value.image.sopInstanceUid] : [],
    );
    expect(images).toEqual([head?.sopInstanceUid]);
  });

  test('has no image library if nothing that arrived is an image', () => {
    const instances = subject.instances.filter(({ rows }) => rows === 0);
    const { root } = decode(build(CART, { ...subject, instances }));
    expect([...walk(root)].filter(({ name }) => name?.meaning === 'Image Library')).toEqual([]);
  });

  test('follows the rows of its template', () => {
    expect(checkTemplate(decode(build(CART, subject)))).toEqual([]);
  });

  test.skipIf(!installed('dsrdump'))('dsrdump reads it without error', () => {
    const { code, output } = run('dsrdump', [asFile(build(CART, subject), 'dcm')]);
    expect({ code, errors: output.match(/^[EF]: .*/gm) }).toEqual({ code: 0, errors: null });
  });
});
