import {
  contains,
  dcm,
  EQUATION,
  FETUS,
  LANGUAGE,
  LENGTHS,
  ln,
  measurementRows,
  modifier,
  OBSERVER,
  type Row,
  sct,
  type Template,
} from './template-row.ts';

/** CID 12019. */
const SUMMARY_VALUES: Row[] = [
  contains('NUM', ln('18185-9', '11885-1', '11886-9', '11888-5', '11884-4'), 'U', {
    units: ['d'],
    rows: measurementRows(true),
  }),
  contains('NUM', ln('11727-5'), 'U', { units: ['g'], rows: measurementRows(true) }),
  contains('NUM', ln('11767-1'), 'U', { units: ['%'], rows: EQUATION }),
  contains('NUM', ln('11948-7'), 'U', { units: ['{H.B.}/min'], rows: measurementRows(true) }),
];

/** CID 12004, extended by the ratios of heart to thorax (CID 12279). */
const RATIOS = ln('11823-2', '11947-9', '11871-1', '11872-9', '11873-7', '59076-0', '59074-5');

/** CID 12005 of lengths. */
const BIOMETRY = ln(
  ...['11820-8', '11824-0', '11851-3', '11984-2', '11862-0', '11818-2', '11819-0', '11979-2'],
  ...['11963-6', '11988-3', '11864-6', '11965-1', '11863-8', '11860-4'],
);

/** CID 12007. */
const CRANIUM = ln('12171-5', '11863-8', '11860-4', '12146-7');

/** CID 12009, which is extensible: our own codes of the sac stand beside it. */
const EARLY_GESTATION = [
  ...ln('11957-8', '11850-5', '11816-6', '33069-6'),
  ...['sac-length', 'sac-height', 'sac-width'].map((code) => `99USINT ${code}`),
];

/** A section of Biometry Groups (TID 5008) for one fetus. */
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

/** CID 12119, as far as the product measures it. */
const VASCULAR = ln(
  ...['12008-9', '12023-8', '12144-2', '11726-7', '11653-3', '11665-7', '11692-1', '20352-1'],
);

/** TID 5025 and 5026: titled by a vessel of CID 12141 and 12140. */
const vesselGroup = (vessels: readonly string[]): Row =>
  contains('CONTAINER', vessels, 'M', {
    rows: [
      ...FETUS,
      { ...modifier('CODE', sct('272741003'), 'U'), once: true },
      contains('NUM', VASCULAR, 'M', { rows: measurementRows(true) }),
    ],
  });

const findingsOf = (site: string, rows: readonly Row[]): Row =>
  contains('CONTAINER', dcm('121070'), 'U', {
    site: `SCT ${site}`,
    rows: [...FETUS, { ...modifier('CODE', sct('363698007'), 'M'), once: true }, ...rows],
  });

/** TID 5010, CID 12008. */
const AMNIOTIC_SAC = findingsOf('70847004', [
  contains(
    'NUM',
    [...ln('11627-7', '11624-4', '11626-9', '11625-1', '11623-6'), ...sct('81827009')],
    'M',
    { units: LENGTHS, rows: measurementRows(true) },
  ),
]);

/** CID 12141. */
const FETAL_VESSELS = findingsOf('51852003', [
  vesselGroup(sct('15825003', '281130003', '17232002', '81040000', '122972007')),
]);

/** CID 12140, which holds the vessels of the cord, too. */
const PELVIC_VESSELS = findingsOf('281496003', [
  vesselGroup(sct('50536004', '13576009', '91079009')),
]);

/** TID 5015 (CID 12011, which is extensible). */
const PELVIS: Row = contains('CONTAINER', dcm('125011'), 'U', {
  once: true,
  rows: [contains('NUM', null, 'M', { rows: measurementRows(true) })],
});

/** OB-GYN Ultrasound Procedure Report. */
export const TID_5000: Template = {
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
