import { describe, expect, test } from 'vitest';
import { type ContentItem, walk } from '../../../../pipelines/artifacts/sr/content-item.ts';
import { decode } from '../../../../pipelines/artifacts/sr/decode.ts';
import { checkTemplate } from '../../../../pipelines/artifacts/sr/template-check.ts';
import { buildTid5000 } from '../../../../pipelines/artifacts/sr/tid5000.ts';
import { CONCEPTS, type ConceptKey } from '../../../../pipelines/concepts/concepts.ts';
import type { Result } from '../../../../pipelines/result/envelope.ts';
import { measurement } from '../example-measurements.ts';
import { RESULT } from '../example-result.ts';
import { SUBJECT } from '../example-subject.ts';
import { asFile, dciodvfy, installed } from '../programs.ts';

/** Values that belong to a site rather than to a biometry group. */
const AT_SITES: Result = {
  ...RESULT,
  measurements: [
    measurement('afi', 'amniotic-fluid-index', 132),
    measurement('dvp', 'deepest-vertical-pocket', 48),
    measurement('cl', 'cervical-length', 31),
    measurement('os', 'placenta-to-os', 24),
    measurement('mca', 'middle-cerebral-artery-pi', 1.9, { unit: '1' }),
    measurement('ua', 'umbilical-artery-pi', 1.1, { unit: '1' }),
    measurement('ua-ri', 'umbilical-artery-ri', 0.6, { unit: '1' }),
    measurement('left', 'uterine-artery-pi', 0.9, { unit: '1', laterality: 'left' }),
    measurement('right', 'uterine-artery-pi', 1.2, { unit: '1', laterality: 'right' }),
    measurement('mean', 'uterine-artery-mean-pi', 1.05, { unit: '1' }),
    measurement('mom', 'middle-cerebral-artery-psv-mom', 1.2, { unit: '1' }),
    measurement('piv', 'ductus-venosus-piv', 0.6, { unit: '1' }),
    measurement('cpr', 'cerebroplacental-ratio', 1.73, { unit: '1' }),
    measurement('vessel', 'unnamed-vessel-pi', 1.3, { unit: '1' }),
    measurement('ctar', 'cardiothoracic-area-ratio', 0.29, { unit: '1' }),
  ],
};

const file = buildTid5000(AT_SITES, SUBJECT);

/** Returns the tree as nested titles, in which values follow their codes. */
function outline(item: ContentItem): unknown {
  const { name, value, items } = item;
  if (value.type === 'NUM') return name?.meaning;
  if (value.type === 'CODE') return value.code.meaning;
  const children = items.filter((child) => ['CONTAINER', 'NUM', 'CODE'].includes(child.value.type));
  return { [name?.meaning ?? '']: children.map(outline) };
}

const sections = (title: string) =>
  decode(file)
    .root.items.filter(({ name }) => name?.meaning === title)
    .map(outline);

describe('values that belong to a site, in TID 5000', () => {
  test('follow the rows of TID 5010, 5015, 5025 and 5026', () => {
    expect(checkTemplate(decode(file))).toEqual([]);
  });

  test.skipIf(!installed('dciodvfy'))('dciodvfy has no complaint', () => {
    expect(dciodvfy(asFile(file, 'dcm'))).toEqual({ code: 0, complaints: [] });
  });

  test('put amniotic fluid under the sac, and each vessel in its own group, with separate sides', () => {
    expect(sections('Findings')).toEqual([
      { Findings: ['Amniotic Sac', 'Amniotic Fluid Index', 'Diameter'] },
      {
        Findings: [
          'Embryonic Vascular Structure',
          {
            'Middle cerebral artery': [
              'Pulsatility Index',
              'Middle cerebral artery PSV, multiple of the median',
            ],
          },
          { 'Ductus venosus': ['Ductus venosus PI for veins'] },
        ],
      },
      {
        Findings: [
          'Pelvic Vascular Structure',
          { 'Umbilical artery': ['Pulsatility Index', 'Resistivity Index'] },
          { 'Uterine artery': ['Left', 'Pulsatility Index'] },
          { 'Uterine artery': ['Right', 'Pulsatility Index'] },
          { 'Uterine artery': ['Uterine artery PI, mean of both sides'] },
        ],
      },
    ]);
  });

  test('put cervix and placental edge under pelvis and uterus', () => {
    expect(sections('Pelvis and Uterus')).toEqual([
      { 'Pelvis and Uterus': ['Cervix Length', expect.any(String)] },
    ]);
  });

  test('treat the ratios of heart to thorax and of two vessels as ratios of biometry', () => {
    expect(sections('Fetal Biometry Ratios')).toEqual([
      { 'Fetal Biometry Ratios': ['Cerebroplacental ratio', 'Cardiothoracic Area Ratio'] },
    ]);
  });

  test('leave out no quantity but those that TID 5000 has no place for', () => {
    const isLeftOut = (key: ConceptKey) => {
      const { unit } = CONCEPTS[key];
      const one = measurement('m', key, 7.654321, { unit, reference: null, uncertainty: null });
      const bytes = buildTid5000({ ...RESULT, measurements: [one], sections: [] }, SUBJECT);
      const numbers = [...walk(decode(bytes).root)].flatMap(({ value }) =>
        value.type === 'NUM' && value.quantity ? [value.quantity.value] : [],
      );
      return !numbers.some((number) => String(number).replace('.', '').includes('7654321'));
    };
    const keys = (Object.keys(CONCEPTS) as ConceptKey[]).filter(
      (key) => CONCEPTS[key].group !== 'echo',
    );
    expect(keys.filter(isLeftOut)).toEqual([
      ...['angle-of-progression', 'head-symphysis-distance', 'head-direction', 'head-station'],
      ...['unnamed-vessel-pi', 'unnamed-vessel-ri', 'unnamed-vessel-sd'],
      ...['unnamed-vessel-psv', 'unnamed-vessel-edv', 'cardiac-axis'],
    ]);
  });

  test('say of the mother’s mean PI in a report of twins not that it belongs to no fetus', () => {
    const twins = ['A', 'B'].map((fetus) => measurement(`hc-${fetus}`, 'hc', 250, { fetus }));
    const mean = measurement('mean', 'uterine-artery-mean-pi', 1.05, { unit: '1' });
    const bytes = buildTid5000({ ...RESULT, measurements: [...twins, mean] }, SUBJECT);
    const texts = [...walk(decode(bytes).root)].flatMap(({ value }) =>
      value.type === 'TEXT' ? [value.text] : [],
    );
    expect(texts.join(' ')).not.toContain('could not be assigned to a fetus');
    expect(JSON.stringify(outline(decode(bytes).root))).toContain('mean of both sides');
  });

  test('have no group for a vessel without a name', () => {
    expect(JSON.stringify(outline(decode(file).root))).not.toContain('nnamed');
  });
});
