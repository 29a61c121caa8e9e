import type { Relationship, ValueType } from './content-item.ts';

/**
 * One row of a PS3.16 template. `concept` lists the allowed names as "scheme code"; null allows
 * every name, and [] means that the row has no name (IMAGE rows). The rows were transcribed from
 * the standard, independently of our builders and concept table, so that the check can find
 * mistakes in them.
 */
export interface Row {
  relationship: Relationship;
  type: ValueType;
  concept: readonly string[] | null;
  /** `M`: at least one item is required; `U`: the row may be absent. */
  need: 'M' | 'U';
  /** Names of other items. If one of them is present, a row with need `M` may be absent. */
  unless?: readonly string[];
  /** True if the row allows at most one item. */
  once?: boolean;
  /** True if the row belongs to a group of rows that may be repeated as a whole. */
  repeated?: boolean;
  /** Finding site of the container, which distinguishes rows with the same name. */
  site?: string;
  /** Allowed codes of a CODE row. */
  values?: readonly string[];
  /** Allowed UCUM units of a NUM row. */
  units?: readonly string[];
  rows?: readonly Row[];
}

interface Template {
  title: string;
  rows: readonly Row[];
}

const LENGTHS = ['mm', 'cm'];

const dcm = (...codes: string[]) => codes.map((code) => `DCM ${code}`);
const ln = (...codes: string[]) => codes.map((code) => `LN ${code}`);
const sct = (...codes: string[]) => codes.map((code) => `SCT ${code}`);

const rowOf =
  (relationship: Relationship) =>
  (
    type: ValueType,
    concept: readonly string[] | null,
    need: 'M' | 'U' = 'U',
    extra: Partial<Row> = {},
  ): Row => ({ relationship, type, concept, need, ...extra });

const contains = rowOf('CONTAINS');
const context = rowOf('HAS OBS CONTEXT');
const modifier = rowOf('HAS CONCEPT MOD');
const property = rowOf('HAS PROPERTIES');
const inferred = rowOf('INFERRED FROM');

/** Language of the document (TID 1204). */
const LANGUAGE = modifier('CODE', dcm('121049'), 'U', { once: true });

/** A device observer, and the persons of a signed document (TID 1001 to 1004). */
const OBSERVER: Row[] = [
  context('CODE', dcm('121005'), 'M', { values: ['DCM 121007'] }),
  context('UIDREF', dcm('121012'), 'M'),
  context('TEXT', dcm('121013'), 'U'),
  context('TEXT', dcm('121014'), 'U'),
  context('TEXT', dcm('121015'), 'U'),
  context('TEXT', dcm('121016'), 'U'),
  context('CODE', dcm('121005'), 'U', { values: ['DCM 121006'], repeated: true }),
  context('PNAME', dcm('121008'), 'U', { repeated: true }),
  context('TEXT', dcm('121009'), 'U', { repeated: true }),
];

/** Subject context of a fetus (TID 1006 and 1008). */
const FETUS: Row[] = [
  context('CODE', dcm('121024'), 'U', { values: ['DCM 121026'], once: true }),
  context('TEXT', dcm('121030'), 'U', { once: true }),
  context('NUM', dcm('121037'), 'U', { once: true, units: ['1'] }),
  context('NUM', dcm('121038'), 'U', { once: true, units: ['1'] }),
];

const ON_IMAGE: Row[] = [rowOf('SELECTED FROM')('IMAGE', [], 'M', { once: true })];

const CALIPER = inferred('SCOORD', dcm('121112'), 'U', { rows: ON_IMAGE });

/** Equation or table from which a value was calculated (TID 315, CID 228). */
const EQUATION: Row[] = [
  inferred('CODE', dcm('121420', '121424')),
  inferred('TEXT', dcm('121421', '121422', '121423')),
];

/**
 * Returns the rows allowed below a NUM (TID 300); `coordinates` is false in a region group (TID
 * 1419).
 */
function measurementRows(coordinates: boolean): Row[] {
  return [
    modifier('CODE', dcm('121401'), 'U', {
      once: true,
      values: sct('258104002', '258090004', '373098007', '373099004', '371912002', '414135002'),
    }),
    modifier('CODE', sct('363698007'), 'U', { once: true }),
    property('NUM', sct('385524004', '371933006', '371884006')),
    property('NUM', dcm('121414', '121415', '121416')),
    property('TEXT', dcm('121407', '121408')),
    ...EQUATION,
    inferred('NUM', null),
    ...(coordinates ? [CALIPER, inferred('IMAGE', dcm('121112'))] : []),
  ];
}

/** Values allowed in the fetus summary (CID 12019). */
const SUMMARY_VALUES: Row[] = [
  contains('NUM', ln('18185-9', '11885-1', '11886-9', '11888-5', '11884-4'), 'U', {
    units: ['d'],
    rows: measurementRows(true),
  }),
  contains('NUM', ln('11727-5'), 'U', { units: ['g'], rows: measurementRows(true) }),
  contains('NUM', ln('11767-1'), 'U', { units: ['%'], rows: EQUATION }),
  contains('NUM', ln('11948-7'), 'U', { units: ['{H.B.}/min'], rows: measurementRows(true) }),
];

/**
 * Fetal biometry ratios (CID 12004), extended by the heart-to-thorax ratios (CID 12279) and the
 * cerebroplacental ratio.
 */
const RATIOS = [
  ...ln('11823-2', '11947-9', '11871-1', '11872-9', '11873-7', '59076-0', '59074-5'),
  '99USINT cerebroplacental-ratio',
];

/** The lengths among the fetal biometry measurements (CID 12005). */
const BIOMETRY = ln(
  ...['11820-8', '11824-0', '11851-3', '11984-2', '11862-0', '11818-2', '11819-0', '11979-2'],
  ...['11963-6', '11988-3', '11864-6', '11965-1', '11863-8', '11860-4'],
);

/** Measurements of the fetal cranium (CID 12007). */
const CRANIUM = ln('12171-5', '11863-8', '11860-4', '12146-7');

/**
 * Early gestation measurements (CID 12009). The context group is extensible, so our private codes
 * for the gestational sac are included.
 */
const EARLY_GESTATION = [
  ...ln('11957-8', '11850-5', '11816-6', '33069-6'),
  ...['sac-length', 'sac-height', 'sac-width'].map((code) => `99USINT ${code}`),
];

/** Returns a section of Biometry Groups (TID 5008) for one fetus. */
const groupsOf = (section: string, concepts: readonly string[]): Row =>
  contains('CONTAINER', dcm(section), 'U', {
    rows: [...FETUS, contains('CONTAINER', dcm('125005'), 'M', { rows: tid5008(concepts) })],
  });

const tid5008 = (concepts: readonly string[]): Row[] => [
  contains('NUM', concepts, 'U', { units: LENGTHS, rows: measurementRows(true) }),
  contains('NUM', ln('18185-9'), 'U', { once: true, units: ['d'], rows: EQUATION }),
  contains('NUM', dcm('125012', '125013'), 'U', {
    once: true,
    units: ['%', '1'],
    rows: EQUATION,
  }),
];

/**
 * Concepts of CID 12119 that are measured. The context group is extensible, so our private codes for
 * the indices of a vessel are included.
 */
const VASCULAR = [
  ...ln('12008-9', '12023-8', '12144-2', '11726-7', '11653-3', '11665-7', '11692-1', '20352-1'),
  ...['ductus-venosus-piv', 'middle-cerebral-artery-psv-mom', 'uterine-artery-mean-pi'].map(
    (code) => `99USINT ${code}`,
  ),
];

/**
 * Returns the row for a group titled with a vessel of CID 12141 (TID 5025) or CID 12140 (TID 5026).
 */
const vesselGroup = (vessels: readonly string[]): Row =>
  contains('CONTAINER', vessels, 'M', {
    rows: [
      ...FETUS,
      modifier('CODE', sct('272741003'), 'U', { once: true }),
      contains('NUM', VASCULAR, 'M', { rows: measurementRows(true) }),
    ],
  });

const findingsOf = (site: string, rows: readonly Row[]): Row =>
  contains('CONTAINER', dcm('121070'), 'U', {
    site: `SCT ${site}`,
    rows: [...FETUS, modifier('CODE', sct('363698007'), 'M', { once: true }), ...rows],
  });

/** Amniotic sac section (TID 5010, measurements of CID 12008). */
const AMNIOTIC_SAC = findingsOf('70847004', [
  contains(
    'NUM',
    [...ln('11627-7', '11624-4', '11626-9', '11625-1', '11623-6'), ...sct('81827009')],
    'M',
    { units: LENGTHS, rows: measurementRows(true) },
  ),
]);

/** Section for fetal vessels (CID 12141). */
const FETAL_VESSELS = findingsOf('51852003', [
  vesselGroup([
    ...sct('15825003', '281130003', '17232002', '81040000', '122972007'),
    '99USINT ductus-venosus',
  ]),
]);

/**
 * Section for vessels of the pelvis (CID 12140). This context group also contains the vessels of
 * the cord.
 */
const PELVIC_VESSELS = findingsOf('281496003', [
  vesselGroup(sct('50536004', '13576009', '91079009')),
]);

/** Section for pelvis and uterus (TID 5015). Its context group (CID 12011) is extensible. */
const PELVIS: Row = contains('CONTAINER', dcm('125011'), 'U', {
  once: true,
  rows: [contains('NUM', null, 'M', { rows: measurementRows(true) })],
});

/** OB-GYN Ultrasound Procedure Report (TID 5000). */
const TID_5000: Template = {
  title: 'DCM 125000',
  rows: [
    LANGUAGE,
    ...OBSERVER,
    contains('CONTAINER', dcm('111028'), 'U', {
      once: true,
      rows: [contains('IMAGE', [], 'M')],
    }),
    contains('CONTAINER', dcm('121111'), 'U', {
      once: true,
      rows: [
        contains('DATE', ln('8665-2', '11955-2', '11778-8', '11779-6', '11781-2'), 'U'),
        contains('CONTAINER', dcm('125008'), 'U', {
          rows: [...FETUS, contains('TEXT', dcm('121106'), 'U'), ...SUMMARY_VALUES],
        }),
      ],
    }),
    contains('CONTAINER', dcm('125001'), 'U', {
      rows: [
        ...FETUS,
        contains('NUM', RATIOS, 'M', { units: ['%', '1'], rows: measurementRows(true) }),
      ],
    }),
    groupsOf('125002', BIOMETRY),
    groupsOf('125004', CRANIUM),
    groupsOf('125009', EARLY_GESTATION),
    AMNIOTIC_SAC,
    PELVIS,
    FETAL_VESSELS,
    PELVIC_VESSELS,
  ],
};

/**
 * Returns the rows of a Measurement Group: those of TID 1410 if the group has an Image Region,
 * otherwise those of TID 1501.
 */
function groupRows(region: boolean): Row[] {
  return [
    context('TEXT', dcm('112039'), 'M', { once: true }),
    context('UIDREF', dcm('112040'), 'M', { once: true }),
    ...FETUS,
    contains('CODE', dcm('121071'), 'M', { once: true }),
    modifier('CODE', sct('363698007'), 'U', { rows: [modifier('CODE', sct('272741003'))] }),
    // IHE AI Results requires TID 4019. A value measured by another manufacturer's device has a
    // Comment instead.
    modifier('TEXT', dcm('111001'), 'M', { unless: dcm('121106') }),
    modifier('TEXT', dcm('111003'), 'M', { unless: dcm('121106') }),
    modifier('TEXT', dcm('111002'), 'U'),
    modifier('CODE', dcm('111000'), 'U'),
    ...(region ? [contains('SCOORD', dcm('111030'), 'M', { once: true, rows: ON_IMAGE })] : []),
    contains('NUM', null, 'M', { rows: measurementRows(!region) }),
    // Qualitative evaluations, such as the mark on a value that needs review.
    contains('CODE', null, 'U'),
    contains('TEXT', dcm('121106'), 'U'),
  ];
}

/** Templates that a container can reference in its Content Template Sequence. */
export const GROUP_TEMPLATES: Readonly<Record<string, readonly Row[]>> = {
  '1410': groupRows(true),
  '1501': groupRows(false),
};

const TID_1500: Template = {
  title: 'DCM 126000',
  rows: [
    { ...LANGUAGE, need: 'M' },
    ...OBSERVER,
    modifier('CODE', dcm('121058'), 'M'),
    contains('CONTAINER', dcm('111028'), 'U', {
      once: true,
      rows: [
        contains('CONTAINER', dcm('126200'), 'M', {
          rows: [
            rowOf('HAS ACQ CONTEXT')('CODE', dcm('121139'), 'M', { once: true, values: dcm('US') }),
            contains('IMAGE', [], 'M'),
          ],
        }),
      ],
    }),
    contains('CONTAINER', dcm('126010'), 'U', {
      once: true,
      rows: [contains('CONTAINER', dcm('125007'), 'M')],
    }),
    contains('CONTAINER', ['UMLS C0034375'], 'U', {
      once: true,
      rows: [contains('TEXT', null, 'U'), contains('CODE', null, 'U')],
    }),
  ],
};

/** Rows that TID 5301 and 5302 share, without the modifiers of TID 5302. */
const ECHO_PROPERTIES: Row[] = [
  property('CODE', dcm('121404')),
  property('TEXT', dcm('125309')),
  CALIPER,
];

/** Modifiers in the order of TID 5302. Each may occur only once. */
const POST_COORDINATION: Row[] = [
  modifier('CODE', dcm('125306'), 'M', {
    once: true,
    values: [...dcm('125313', '125314', '125315', '125316', '113857'), ...sct('118586006')],
  }),
  modifier('CODE', sct('363698007'), 'M', { once: true }),
  modifier('CODE', dcm('125305'), 'M', {
    once: true,
    values: [...dcm('125311', '125312'), ...sct('44324008')],
  }),
  modifier('CODE', dcm('125307'), 'M', { once: true }),
  modifier('CODE', sct('272518008'), 'U', { once: true }),
  modifier('CODE', dcm('125308'), 'U', { once: true }),
];

const TID_5200: Template = {
  title: 'DCM 125200',
  rows: [
    LANGUAGE,
    ...OBSERVER,
    contains('CONTAINER', dcm('121118'), 'U', {
      once: true,
      rows: [contains('NUM', ln('8277-6'), 'U', { units: ['m2'], rows: measurementRows(true) })],
    }),
    contains('CONTAINER', dcm('111028'), 'U', {
      once: true,
      rows: [contains('IMAGE', [], 'M')],
    }),
    contains('CONTAINER', [...dcm('121070'), ...ln('59776-5')], 'U', {
      rows: [
        modifier('CODE', sct('363698007'), 'M', { once: true }),
        contains('CONTAINER', dcm('125007'), 'M', {
          rows: [contains('NUM', null, 'M', { rows: measurementRows(true) })],
        }),
      ],
    }),
  ],
};

/** TID 5300 is not extensible: it allows no image library and no free text (PS3.17 CCCC). */
const TID_5300: Template = {
  title: 'DCM 125200',
  rows: [
    { ...LANGUAGE, need: 'M' },
    ...OBSERVER,
    contains('CONTAINER', dcm('125301'), 'U', {
      once: true,
      rows: [contains('NUM', null, 'M', { rows: ECHO_PROPERTIES })],
    }),
    contains('CONTAINER', dcm('125302'), 'U', {
      once: true,
      rows: [contains('NUM', null, 'M', { rows: [...POST_COORDINATION, ...ECHO_PROPERTIES] })],
    }),
  ],
};

const TID_2010: Template = {
  title: 'DCM 113000',
  rows: [
    LANGUAGE,
    ...OBSERVER,
    contains('TEXT', dcm('113012'), 'U', { once: true }),
    contains('IMAGE', [], 'M'),
  ],
};

export const ROOT_TEMPLATES: Readonly<Record<string, Template>> = {
  '1500': TID_1500,
  '2010': TID_2010,
  '5000': TID_5000,
  '5200': TID_5200,
  '5300': TID_5300,
};

/**
 * Alternative containers for each root template. The root must contain at least one of them (TID
 * 1500 rows 6, 10, 12).
 */
export const BODIES: Readonly<Record<string, readonly string[]>> = {
  '1500': ['DCM 126010', 'DCM 126011', 'UMLS C0034375'],
};
