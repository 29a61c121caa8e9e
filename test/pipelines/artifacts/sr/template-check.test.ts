import { describe, expect, test } from 'vitest';
import type { ContentItem, ItemValue } from '../../../../pipelines/artifacts/sr/content-item.ts';
import { decode, type SrFile } from '../../../../pipelines/artifacts/sr/decode.ts';
import { checkTemplate } from '../../../../pipelines/artifacts/sr/template-check.ts';
import { buildTid1500 } from '../../../../pipelines/artifacts/sr/tid1500.ts';
import { buildTid5000 } from '../../../../pipelines/artifacts/sr/tid5000.ts';
import { RESULT } from '../example-result.ts';
import { SUBJECT } from '../example-subject.ts';

/**
 * The documents contain deliberate errors, one at a time: a checker that finds none of them would
 * prove nothing.
 */

const TID_1500 = decode(buildTid1500(RESULT, SUBJECT));
const TID_5000 = decode(buildTid5000(RESULT, SUBJECT));

type Change = (item: ContentItem) => ContentItem | null;

function changed(item: ContentItem, change: Change): ContentItem | null {
  const next = change(item);
  if (!next) return null;
  return { ...next, items: next.items.flatMap((child) => changed(child, change) ?? []) };
}

const plant = (file: SrFile, change: Change): SrFile => ({
  ...file,
  root: changed(file.root, change) ?? file.root,
});

const drop =
  (meaning: string): Change =>
  (item) =>
    item.name?.meaning === meaning ? null : item;

const edit =
  (meaning: string, value: (value: ItemValue) => ItemValue): Change =>
  (item) =>
    item.name?.meaning === meaning ? { ...item, value: value(item.value) } : item;

const rules = (file: SrFile) => checkTemplate(file).map(({ rule }) => rule);

describe('a mandatory row that is missing', () => {
  test.each([
    'Language of Content Item and Descendants',
    'Observer Type',
    'Device Observer UID',
    'Procedure reported',
    'Modality',
    'Tracking Identifier',
    'Tracking Unique Identifier',
    'Algorithm Name',
    'Algorithm Version',
    'Finding',
    'Image Region',
  ])('%s of TID 1500', (meaning) => {
    expect(rules(plant(TID_1500, drop(meaning)))).toContainEqual(
      expect.stringMatching(/^mandatory .* is missing$/),
    );
  });

  test('all bodies of TID 1500', () => {
    const bare = plant(
      plant(TID_1500, drop('Imaging Measurements')),
      drop('Qualitative Evaluations'),
    );
    expect(rules(bare)).toContainEqual(expect.stringMatching(/^none of DCM 126010/));
  });

  test('the image below a caliper', () => {
    const without = plant(TID_5000, (item) =>
      item.relationship === 'SELECTED FROM' ? null : item,
    );
    expect(rules(without)).toContain('mandatory SELECTED FROM IMAGE () is missing');
  });
});

describe('a row in the wrong form', () => {
  test('a caliper that its value CONTAINS', () => {
    const wrong = plant(TID_5000, (item) =>
      item.value.type === 'SCOORD' ? { ...item, relationship: 'CONTAINS' } : item,
    );
    expect(rules(wrong)).toContain('no row allows CONTAINS SCOORD here');
  });

  test('a caliper as a property, which no public tool reports', () => {
    const wrong = plant(TID_5000, (item) =>
      item.value.type === 'SCOORD' ? { ...item, relationship: 'HAS PROPERTIES' } : item,
    );
    expect(rules(wrong)).toContain('no row allows HAS PROPERTIES SCOORD here');
  });

  test('a quantity that is not of the section', () => {
    const wrong = plant(TID_5000, (item) =>
      item.name?.meaning === 'Femur Length'
        ? { ...item, name: { scheme: 'LN', code: '11957-8', meaning: 'Crown Rump Length' } }
        : item,
    );
    expect(rules(wrong)).toContain('no row allows CONTAINS NUM here');
  });

  test('a gestational age in weeks', () => {
    const wrong = plant(
      TID_5000,
      edit('Gestational Age', (value) =>
        value.type === 'NUM' && value.quantity
          ? {
              ...value,
              quantity: {
                ...value.quantity,
                unit: { scheme: 'UCUM', code: 'wk', meaning: 'week' },
              },
            }
          : value,
      ),
    );
    expect(rules(wrong)).toContain('unit wk is not among d');
  });

  test('an observer that is a person', () => {
    const wrong = plant(
      TID_1500,
      edit('Observer Type', () => ({
        type: 'CODE',
        code: { scheme: 'DCM', code: '121006', meaning: 'Person' },
      })),
    );
    expect(rules(wrong)).toContain('mandatory HAS OBS CONTEXT CODE (DCM 121005) is missing');
  });

  test('rows in the wrong order', () => {
    const wrong = plant(TID_1500, (item) =>
      item.relationship === null ? { ...item, items: item.items.toReversed() } : item,
    );
    expect(rules(wrong)).toContain('comes after rows that follow it in the template');
  });

  test('two growth ranks in one group', () => {
    const wrong = plant(TID_5000, (item) =>
      item.name?.meaning === 'Biometry Group'
        ? { ...item, items: [...item.items, ...item.items.slice(-1)] }
        : item,
    );
    expect(rules(wrong)).toContainEqual(expect.stringMatching(/125012 \| DCM 125013\) stands 2/));
  });

  test('the title of another report', () => {
    const wrong = plant(TID_5000, (item) =>
      item.relationship === null ? { ...item, name: TID_1500.root.name } : item,
    );
    expect(rules(wrong)).toContain('the title is not DCM 125000');
  });
});

describe('values', () => {
  test('a number with neither value nor reason', () => {
    const wrong = plant(
      TID_5000,
      edit('Femur Length', (value) => ({ ...value, type: 'NUM', quantity: null, qualifier: null })),
    );
    expect(rules(wrong)).toContain('no value and no reason');
  });

  test('an ellipse with skew axes', () => {
    const wrong = plant(
      TID_1500,
      edit('Image Region', () => ({
        type: 'SCOORD',
        graphic: { shape: 'ELLIPSE', data: [0, 10, 40, 10, 15, 0, 25, 20] },
      })),
    );
    expect(rules(wrong)).toContain('the axes are not at right angles');
  });

  test('a region whose outline is open', () => {
    const wrong = plant(
      TID_1500,
      edit('Image Region', () => ({
        type: 'SCOORD',
        graphic: { shape: 'POLYLINE', data: [0, 0, 10, 0, 10, 10] },
      })),
    );
    expect(rules(wrong)).toContain('the outline of a region is not closed');
  });
});

describe('evidence', () => {
  test('an image that is not listed', () => {
    const wrong = plant(TID_1500, (item) =>
      item.value.type === 'IMAGE' && item.value.image.sopInstanceUid === '2.25.2003'
        ? {
            ...item,
            value: { type: 'IMAGE', image: { ...item.value.image, sopInstanceUid: '2.25.9' } },
          }
        : item,
    );
    expect(rules(wrong)).toEqual(['2.25.9 is not listed', '2.25.2003 is not referred to']);
  });

  test('a document without any evidence list', () => {
    const { CurrentRequestedProcedureEvidenceSequence: _, ...header } = TID_1500.header;
    expect(rules({ ...TID_1500, header })).toHaveLength(SUBJECT.instances.length);
  });
});
