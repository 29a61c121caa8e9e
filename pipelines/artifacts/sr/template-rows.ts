import {
  contains,
  context,
  dcm,
  FETUS,
  inferred,
  LANGUAGE,
  ln,
  measurementRows,
  modifier,
  OBSERVER,
  ON_IMAGE,
  property,
  type Row,
  sct,
  type Template,
} from './template-row.ts';
import { TID_5000 } from './template-rows-obstetric.ts';

/** Measurement Group: TID 1501, or TID 1410 when it has an Image Region. */
function groupRows(region: boolean): Row[] {
  return [
    context('TEXT', 'DCM 112039', 'M', { once: true }),
    context('UIDREF', 'DCM 112040', 'M', { once: true }),
    ...FETUS,
    contains('CODE', dcm('121071'), 'M', { once: true }),
    {
      ...modifier('CODE', sct('363698007'), 'U'),
      rows: [modifier('CODE', sct('272741003'), 'U')],
    },
    // TID 4019, which IHE AI Results asks for; a value of another maker has a Comment in its place.
    { ...modifier('TEXT', dcm('111001'), 'M'), unless: dcm('121106') },
    { ...modifier('TEXT', dcm('111003'), 'M'), unless: dcm('121106') },
    modifier('TEXT', dcm('111002'), 'U'),
    modifier('CODE', dcm('111000'), 'U'),
    ...(region ? [contains('SCOORD', dcm('111030'), 'M', { once: true, rows: ON_IMAGE })] : []),
    contains('NUM', null, 'M', { rows: measurementRows(!region) }),
    contains('TEXT', dcm('121106'), 'U'),
  ];
}

/** Templates that a container names by its Content Template Sequence. */
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
            {
              relationship: 'HAS ACQ CONTEXT',
              type: 'CODE',
              concept: dcm('121139'),
              need: 'M',
              once: true,
              values: dcm('US'),
            },
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

const CALIPER: Row = { ...inferred('SCOORD', dcm('121112')), rows: ON_IMAGE };

/** Rows of TID 5301 and 5302 beside the modifiers of the latter. */
const ECHO_PROPERTIES: Row[] = [
  property('CODE', dcm('121404')),
  property('TEXT', dcm('125309')),
  CALIPER,
];

const once = (row: Row): Row => ({ ...row, once: true });

/** Each modifier at most once, in the order of TID 5302. */
const POST_COORDINATION: Row[] = [
  once({
    ...modifier('CODE', dcm('125306'), 'M'),
    values: [...dcm('125313', '125314', '125315', '125316', '113857'), ...sct('118586006')],
  }),
  once(modifier('CODE', sct('363698007'), 'M')),
  once({
    ...modifier('CODE', dcm('125305'), 'M'),
    values: [...dcm('125311', '125312'), ...sct('44324008')],
  }),
  once(modifier('CODE', dcm('125307'), 'M')),
  once(modifier('CODE', sct('272518008'), 'U')),
  once(modifier('CODE', dcm('125308'), 'U')),
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
        once(modifier('CODE', sct('363698007'), 'M')),
        contains('CONTAINER', dcm('125007'), 'M', {
          rows: [contains('NUM', null, 'M', { rows: measurementRows(true) })],
        }),
      ],
    }),
  ],
};

/** Not extensible: no image library, no free text (PS3.17 CCCC). */
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

/** Root templates by Template Identifier. */
export const ROOT_TEMPLATES: Readonly<Record<string, Template>> = {
  '1500': TID_1500,
  '2010': TID_2010,
  '5000': TID_5000,
  '5200': TID_5200,
  '5300': TID_5300,
};

/** Containers of which at least one must stand in the root (TID 1500 rows 6, 10, 12). */
export const BODIES: Readonly<Record<string, readonly string[]>> = {
  '1500': ['DCM 126010', 'DCM 126011', 'UMLS C0034375'],
};
