import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { code, num, text } from '../../../../pipelines/artifacts/sr/content-item.ts';
import { CONCEPTS } from '../../../../pipelines/concepts/concepts.ts';
import type { CartMeasurement, Study } from '../../../../pipelines/contract/study.ts';
import { readStudy } from '../../../../pipelines/input/read-study.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { zipOf } from '../archive-sample.ts';
import { ultrasound } from '../dicom-sample.ts';
import { onDisk } from '../on-disk.ts';
import {
  biometryGroup,
  type ContentItem,
  cartFile,
  dcm,
  derived,
  echoFindings,
  echoReport,
  equation,
  fetalBiometry,
  fetus,
  imagingReport,
  ln,
  measuredOn,
  modifier,
  obstetricReport,
  PATIENT,
  SIMPLIFIED_ECHO,
  sct,
  selected,
  srt,
  US_IMAGE,
  value,
} from './cart-report.ts';

const BPD = ln('11820-8', 'Biparietal Diameter');
const HC = ln('11984-2', 'Head Circumference');
const FL = ln('11963-6', 'Femur Length');

async function study(...files: readonly Buffer[]): Promise<Study> {
  return readStudy(
    await onDisk(Object.fromEntries(files.map((bytes, index) => [`${index}.dcm`, bytes]))),
  );
}

async function values(...trees: readonly ContentItem[]): Promise<readonly CartMeasurement[]> {
  const { cart, refused } = await study(...trees.map((tree) => cartFile(tree)));
  expect(refused).toEqual([]);
  return cart ?? [];
}

async function only(tree: ContentItem): Promise<CartMeasurement | undefined> {
  const all = await values(tree);
  expect(all).toHaveLength(1);
  return all[0];
}

const biometry = (...items: readonly ContentItem[]) => obstetricReport(fetalBiometry(...items));
const findingSite = sct('363698007', 'Finding Site');

describe('an obstetric report (TID 5000)', () => {
  it('gives each value its concept, unit, report and image', async () => {
    const tree = biometry(biometryGroup(value(BPD, 71.5, 'mm', [measuredOn('2.25.5', 3)])));
    expect(await only(tree)).toMatchObject({
      key: 'bpd',
      value: 71.5,
      unit: 'mm',
      derivation: null,
      selection: null,
      fetus: null,
      file: '0.dcm',
      sopInstanceUid: '2.25.99',
      image: { sopInstanceUid: '2.25.5', frame: 3 },
    });
  });

  it.each([
    [7.15, 'cm', 71.5],
    [0.0715, 'm', 71.5],
    [71_500, 'um', 71.5],
  ])('%d %s is converted to the unit of the concept table', async (number, unit, millimetres) => {
    const read = await only(biometry(biometryGroup(value(BPD, number, unit))));
    expect(read).toMatchObject({ key: 'bpd', unit: 'mm', value: expect.closeTo(millimetres, 9) });
  });

  it("a ratio in per cent or without a unit is the table's plain ratio", async () => {
    const ratio = ln('11947-9', 'HC/AC');
    for (const [number, unit] of [
      [112, '%'],
      [1.12, '1'],
      [1.12, '{ratio}'],
    ] as const) {
      const read = await only(obstetricReport(fetalBiometry(value(ratio, number, unit))));
      expect(read).toMatchObject({ key: 'hc-ac-ratio', value: expect.closeTo(1.12, 9) });
    }
  });

  it('a length in grams is not a length: carried as written, without a key', async () => {
    const read = await only(biometry(biometryGroup(value(BPD, 71.5, 'g'))));
    expect(read).toMatchObject({ key: null, unit: 'g', concept: { code: '11820-8' } });
  });

  it('a concept that is not in the table keeps its code', async () => {
    const read = await only(biometry(value(ln('99999-9', 'Nose length'), 6, 'mm')));
    expect(read).toMatchObject({
      key: null,
      concept: { scheme: 'LN', code: '99999-9', meaning: 'Nose length' },
    });
  });

  it.each([16, 17, 64, 65, 128])('a code of %i characters keeps all of them', async (length) => {
    const codes = ['a', 'b'].map((end) => `${'9'.repeat(length - 1)}${end}`);
    const read = await values(biometry(...codes.map((code) => value(ln(code), 6, 'mm'))));
    expect(read.map(({ concept }) => concept.code)).toEqual(codes);
  });

  it('a value with a code of more than 128 characters is left out', async () => {
    expect(await values(biometry(value(ln('9'.repeat(130)), 6, 'mm')))).toEqual([]);
  });

  it('a diameter at the amniotic fluid is the deepest pocket, and without a site it is nothing', async () => {
    const pocket = CONCEPTS['deepest-vertical-pocket'];
    const site = pocket.site ?? sct('0');
    const diameter = (...items: readonly ContentItem[]) =>
      value(pocket.codings[0], 45, 'mm', items);
    const read = await values(
      obstetricReport(
        fetalBiometry(diameter(modifier(findingSite, site))),
        fetalBiometry(diameter(modifier(findingSite, sct('35039007', 'Uterus')))),
        fetalBiometry(diameter()),
      ),
    );
    expect(read.map(({ key }) => key)).toEqual(['deepest-vertical-pocket', null, null]);
  });

  it('the standard deviation of a length is not that length', async () => {
    const spread = derived(sct('386136009', 'Standard Deviation'));
    const read = await only(biometry(biometryGroup(value(BPD, 1.2, 'mm', [spread]))));
    expect(read).toMatchObject({ key: null, derivation: 'other' });
  });

  it('the age and centile of a group state the quantity to which they belong', async () => {
    const age = ln('18185-9', 'Gestational Age');
    const rank = dcm('125012', 'Growth Percentile Rank');
    const hadlock = equation(ln('11932-1', 'HC, Hadlock 1984'));
    const all = await values(
      biometry(
        biometryGroup(value(HC, 265, 'mm'), value(age, 203, 'd', [hadlock]), value(rank, 40, '%')),
        biometryGroup(value(BPD, 71.5, 'mm'), value(age, 29, 'wk')),
        value(age, 200, 'd'),
      ),
    );
    expect(all.map(({ key, of, value: number }) => [key, of?.code ?? null, number])).toEqual([
      ['hc', null, 265],
      ['ga-by-hc', '11984-2', 203],
      [null, '11984-2', 40],
      ['bpd', null, 71.5],
      [null, '11820-8', 29],
      [null, null, 200],
    ]);
    expect(all[1]?.equation?.code).toBe('11932-1');
  });

  it('values of two fetuses are kept apart, whether they have letters or numbers', async () => {
    const all = await values(
      obstetricReport(
        fetalBiometry(...fetus('A'), biometryGroup(value(FL, 50, 'mm'))),
        fetalBiometry(...fetus('Fetus B'), biometryGroup(value(FL, 50, 'mm'))),
      ),
    );
    expect(all.map(({ fetus: id }) => id)).toEqual(['A', 'B']);
  });

  const fetusNamed = async (...context: readonly ContentItem[]) => {
    const all = await values(
      obstetricReport(fetalBiometry(...context, biometryGroup(value(FL, 50, 'mm')))),
    );
    return all.find(({ key }) => key === 'fl')?.fetus;
  };

  it.each([
    ['A', 'A'],
    ['b', 'B'],
    ['2', '2'],
    ['Fetus 1', '1'],
    ['Fetus #1', '1'],
    ['FETUS_2', '2'],
    ['Fetus No. 2', '2'],
    ['Twin A', 'A'],
    ['Baby B', 'B'],
    ['triplet-c', 'C'],
    ['A/2', 'A'],
    ['1 of 2', '1'],
    ['II', '2'],
    ['Twin B (left)', 'B'],
  ])('the fetus of %s is %s', async (written, name) => {
    expect(await fetusNamed(...fetus(written))).toBe(name);
  });

  it('an identifier other than a letter or number separates two fetuses, and is not carried', async () => {
    const one = await fetusNamed(...fetus('Zoe'));
    expect(one).toMatch(/^[A-Z]{3}$/);
    expect(await fetusNamed(...fetus('zoe '))).toBe(one);
    expect(await fetusNamed(...fetus('Max'))).not.toBe(one);
  });

  it('a subject that is not declared a fetus counts as one only by a letter or number', async () => {
    const named = (id: string) => text('HAS OBS CONTEXT', dcm('121030', 'Subject ID'), id);
    expect(await fetusNamed(named('PID 4711'))).toBeNull();
    expect(await fetusNamed(named('B'))).toBe('B');
    const patient = code(
      'HAS OBS CONTEXT',
      dcm('121024', 'Subject Class'),
      dcm('121025', 'Patient'),
    );
    expect(await fetusNamed(patient, named('B'))).toBeNull();
  });

  it.each([
    ['A', null],
    ['A/1', null],
    ['A/2', 2],
    ['Twin A', 2],
    ['Triplet 1', 3],
  ])('the fetus %s is one of %s', async (written, count) => {
    const all = await values(
      obstetricReport(fetalBiometry(...fetus(written), value(FL, 50, 'mm'))),
    );
    const counted = all.find(({ concept }) => concept.code === '121038');
    expect(counted?.value ?? null).toBe(count);
  });

  it.each([
    [1, null],
    [2, 2],
  ])('%d fetuses in the context of a section are carried as %s', async (number, carried) => {
    const counted = num('HAS OBS CONTEXT', dcm('121038', 'Number of Fetuses'), {
      value: number,
      unit: { scheme: 'UCUM', code: '1', meaning: 'no units' },
    });
    const all = await values(obstetricReport(fetalBiometry(counted, value(FL, 50, 'mm'))));
    expect(all.find(({ concept }) => concept.code === '121038')?.value ?? null).toBe(carried);
  });

  it('inputs, normal ranges and the age of the patient are not measurements', async () => {
    const mm = { scheme: 'UCUM', code: 'mm', meaning: 'mm' };
    const below = (relationship: 'INFERRED FROM' | 'HAS PROPERTIES', name: typeof BPD) => ({
      ...value(name, 1, 'mm'),
      relationship,
      value: { type: 'NUM' as const, quantity: { value: 1, unit: mm }, qualifier: null },
    });
    const tree = obstetricReport(
      value(dcm('121033', 'Subject Age'), 31, 'a'),
      fetalBiometry(
        value(FL, 50, 'mm', [
          below('INFERRED FROM', BPD),
          below('HAS PROPERTIES', sct('385524004', 'Normal Range Lower Limit')),
        ]),
      ),
    );
    expect((await only(tree))?.key).toBe('fl');
  });

  it('a failed measurement has no value and is left out', async () => {
    const failed: ContentItem = {
      ...value(FL, 50, 'mm'),
      value: { type: 'NUM', quantity: null, qualifier: dcm('114006', 'Measurement failure') },
    };
    expect(await values(biometry(biometryGroup(failed)))).toEqual([]);
  });
});

describe('values that were written twice count once', () => {
  it('in two sections, in two units and in two reports', async () => {
    const twice = obstetricReport(
      fetalBiometry(biometryGroup(value(FL, 50.2, 'mm'))),
      fetalBiometry(biometryGroup(value(FL, 5.02, 'cm'))),
    );
    expect(await values(twice, biometry(value(FL, 50.2, 'mm')))).toHaveLength(1);
  });

  it('as a single value and as its mean: the one with more details from the cart', async () => {
    const mean = value(FL, 50.2, 'mm', [derived(sct('373098007', 'Mean'))]);
    const all = await values(biometry(biometryGroup(value(FL, 50.2, 'mm'), mean)));
    expect(all.map(({ derivation }) => derivation)).toEqual(['mean']);
  });

  it('not within one section, where two measurements have two values', async () => {
    const lengths = (...mm: number[]) => mm.map((one) => biometryGroup(value(FL, one, 'mm')));
    const section = fetalBiometry(...lengths(50, 50, 65));
    const of = (all: readonly CartMeasurement[]) => all.map((one) => one.value);
    expect(of(await values(obstetricReport(section)))).toEqual([50, 50, 65]);
    const summary = fetalBiometry(...lengths(50));
    expect(of(await values(obstetricReport(summary, section)))).toEqual([50, 50, 65]);
    expect(of(await values(obstetricReport(section), obstetricReport(section)))).toEqual([
      50, 50, 65,
    ]);
  });

  it('within one section if they are from the same image, but not from two', async () => {
    const on = (image: string) => value(FL, 50, 'mm', [measuredOn(image)]);
    expect(await values(biometry(on('2.25.5'), on('2.25.5')))).toHaveLength(1);
    expect(await values(biometry(on('2.25.5'), on('2.25.6')))).toHaveLength(2);
  });

  it('another value, another fetus or another side is not a repeat', async () => {
    const left = modifier(findingSite, sct('64033007', 'Kidney'), [
      modifier(sct('272741003', 'Laterality'), sct('7771000', 'Left')),
    ]);
    const all = await values(
      obstetricReport(
        fetalBiometry(value(FL, 50, 'mm'), value(FL, 50.1, 'mm'), value(FL, 50, 'mm', [left])),
        fetalBiometry(...fetus('B'), value(FL, 50, 'mm')),
      ),
    );
    expect(all.map(({ laterality }) => laterality)).toEqual([null, null, 'left', null]);
  });
});

describe('an echo report', () => {
  const lv = sct('87878005', 'Left Ventricle');
  const twoD = sct('399064001', '2D mode');

  it('TID 5200: site and mode of the group apply to its values, and are supplemented by their own modifiers', async () => {
    const diastole = modifier(
      sct('272518008', 'Cardiac Cycle Point'),
      sct('416190007', 'End diastole'),
    );
    const biplane = modifier(
      sct('370129005', 'Measurement Method'),
      dcm('125207', 'Method of Disks, Biplane'),
    );
    const retrograde = modifier(
      sct('260674002', 'Flow Direction'),
      sct('312004007', 'Retrograde Direction'),
    );
    const volume = value(ln('18026-5', 'LV End Diastolic Volume'), 118, 'ml', [
      diastole,
      biplane,
      retrograde,
    ]);
    expect(await only(echoReport(echoFindings(lv, twoD, [volume])))).toMatchObject({
      key: null,
      concept: { code: '18026-5' },
      value: 118,
      unit: 'ml',
      site: { code: '87878005' },
      imageMode: { code: '399064001' },
      phase: { code: '416190007' },
      method: { code: '125207' },
      flowDirection: { code: '312004007' },
    });
  });

  it('SNOMED-RT codes of older carts are the SNOMED CT codes of the same meaning', async () => {
    const tree = echoReport(
      echoFindings(
        srt('T-32600', 'Left Ventricle'),
        srt('G-03A2', '2D mode'),
        [
          value(ln('18026-5'), 118, 'ml', [
            modifier(srt('R-4089A'), srt('R-FAB5C')),
            modifier(srt('G-C048'), srt('R-42047')),
            derived(srt('R-00317', 'Mean')),
          ]),
        ],
        { site: srt('G-C0E3', 'Finding Site'), mode: srt('G-0373', 'Image Mode') },
      ),
    );
    expect(await only(tree)).toMatchObject({
      site: { scheme: 'SCT', code: '87878005' },
      imageMode: { scheme: 'SCT', code: '399064001' },
      phase: { code: '416190007' },
      flowDirection: { code: '263677008' },
      derivation: 'mean',
    });
  });

  it.each([
    ['G-0391', '399093001', 'medial mitral annulus'],
    ['G-0392', '399086000', 'lateral mitral annulus'],
    ['T-35110', '113259005', 'tricuspid annulus'],
    ['D3-90008', '373945007', 'pericardial effusion'],
  ])('the SNOMED-RT site %s is %s, %s', async (older, current) => {
    const tree = echoReport(echoFindings(srt(older), twoD, [value(ln('20354-7'), 9, 'cm')]));
    expect(await only(tree)).toMatchObject({ site: { scheme: 'SCT', code: current } });
  });

  it.each([
    ['121410', 'user'],
    ['121411', 'most-recent'],
    ['121412', 'mean'],
  ])('TID 5300: the value that is flagged %s is selected', async (status, selection) => {
    const name = ln('80007-8', 'LVIDd 2D');
    const tree = echoReport({
      ...fetalBiometry(
        value(name, 4.6, 'cm'),
        value(name, 4.8, 'cm', [selected(dcm(status, 'Selection'))]),
      ),
      name: dcm('125301', 'Pre-coordinated Measurements'),
    });
    const { cart } = await study(cartFile(tree, { SOPClassUID: SIMPLIFIED_ECHO }));
    expect(cart?.map((one) => [one.value, one.selection])).toEqual([
      [4.6, null],
      [4.8, selection],
    ]);
  });

  it('TID 5302: property and divisor of a post-coordinated value are carried', async () => {
    const index = value({ scheme: '99ACME', code: 'SI', meaning: 'Stroke index' }, 39, 'ml/m2', [
      modifier(dcm('125307', 'Measured Property'), sct('90096001', 'Stroke Volume')),
      modifier(dcm('125308', 'Measurement Divisor'), ln('8277-6', 'Body Surface Area')),
      modifier(findingSite, lv),
    ]);
    expect(await only(echoReport(fetalBiometry(index)))).toMatchObject({
      concept: { scheme: '99ACME', code: 'SI' },
      unit: 'ml/m2',
      property: { code: '90096001' },
      divisor: { code: '8277-6' },
    });
  });
});

describe('the reports that are read', () => {
  const refusal = async (tree: ContentItem, header = {}) => {
    const { cart, refused } = await study(cartFile(tree, header));
    expect(cart).toBeUndefined();
    return refused[0]?.reason;
  };

  it('include TID 1500 only if it refers to ultrasound images', async () => {
    const length = value(FL, 50, 'mm');
    expect(await only(imagingReport(US_IMAGE, length))).toMatchObject({ key: 'fl' });
    const ct = imagingReport('1.2.840.10008.5.1.4.1.1.2', length);
    expect(await refusal(ct)).toContain('not of ultrasound images');
  });

  it('a vascular report (TID 5100) is read', async () => {
    const tree = { ...obstetricReport(value(ln('11726-7'), 80, 'cm/s')), name: dcm('125100') };
    expect(await only(tree)).toMatchObject({ value: 80, unit: 'cm/s' });
  });

  it('a report of something else is refused', async () => {
    const dose = { ...obstetricReport(), name: dcm('113701', 'X-Ray Radiation Dose Report') };
    expect(await refusal(dose)).toContain('does not report ultrasound measurements');
  });

  it('our own draft is never read as a measurement of the machine', async () => {
    const tree = biometry(value(FL, 50, 'mm'));
    expect(await refusal(tree, { Manufacturer: 'Sonogate' })).toContain('draft of this gateway');
  });

  it.each([0.3, 0.6, 0.95])('a report cut at %f of its length is refused', async (share) => {
    const whole = cartFile(biometry(biometryGroup(value(FL, 50, 'mm'))));
    const { refused } = await study(whole.subarray(0, Math.floor(whole.length * share)));
    expect(refused).toHaveLength(1);
  });

  it('in an archive beside its images: it is not a clip and counts as a file', async () => {
    const archive = zipOf({
      'a.dcm': ultrasound(),
      'sr/b.dcm': cartFile(biometry(value(FL, 50, 'mm'))),
    });
    const unpackTo = join(await temporaryFolder(), 'unpacked');
    const read = await readStudy(await onDisk({ 'study.zip': archive }), { unpackTo });
    expect(read.clips.map(({ file }) => file)).toEqual(['study.zip/a.dcm']);
    expect(read.cart?.map(({ file }) => file)).toEqual(['study.zip/sr/b.dcm']);
    expect(read).toMatchObject({ files: 2, refused: [] });
  });

  it('nothing about a person is read: no name, no identifier, no prose', async () => {
    const { cart } = await study(cartFile(biometry(value(FL, 50, 'mm'))));
    const carried = JSON.stringify(cart);
    expect(carried).not.toContain(PATIENT.name);
    expect(carried).not.toContain(PATIENT.id);
    expect(carried).not.toContain('PHANTOM-1');
  });
});

const DCMTK = spawnSync('xml2dsr', ['--version']).error === undefined;
const REAL = '../shared/data/sr';

describe('reports of other writers', () => {
  const readWithoutName = async (path: string) => {
    const { cart } = await readStudy([{ name: 'report.dcm', path }]);
    return cart ?? [];
  };

  it.skipIf(!DCMTK)(
    'what DCMTK rewrote is read the same: its own tree, implicit, undefined lengths',
    async () => {
      const tree = biometry(
        biometryGroup(value(HC, 265, 'mm', [measuredOn('2.25.5', 2)]), value(HC, 266.5, 'mm')),
        biometryGroup(value(FL, 50, 'mm', [derived(sct('373098007', 'Mean'))])),
      );
      const [{ path } = { path: '' }] = await onDisk({ 'a.dcm': cartFile(tree) });
      execFileSync('dcmconv', ['--write-xfer-implicit', '-e', path, `${path}.implicit`]);
      execFileSync('dsr2xml', ['--use-xml-namespace', path, `${path}.xml`], { stdio: 'ignore' });
      execFileSync('xml2dsr', [`${path}.xml`, `${path}.rebuilt`], { stdio: 'ignore' });
      const direct = await readWithoutName(path);
      expect(direct.map((one) => one.value)).toEqual([265, 266.5, 50]);
      expect(await readWithoutName(`${path}.implicit`)).toEqual(direct);
      expect(await readWithoutName(`${path}.rebuilt`)).toEqual(direct);
    },
  );

  it.skipIf(!existsSync(REAL))('TID 1500 of CT and PET in the data folder is refused', async () => {
    const names = ['sr-tid1500-petct.dcm', 'sr_document.dcm'];
    const { cart, refused } = await readStudy(
      names.map((name) => ({ name, path: `${REAL}/${name}` })),
    );
    expect(cart).toBeUndefined();
    expect(refused.map(({ reason }) => reason)).toEqual(
      names.map(() => 'the measurements of the structured report are not of ultrasound images'),
    );
  });
});
