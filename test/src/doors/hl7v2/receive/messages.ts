/** Messages from an imaginary hospital, one segment per line. */
export const message = (...segments: string[]): string => `${segments.join('\r')}\r`;

interface HeaderParts {
  type: string;
  control?: string;
  at?: string;
  application?: string;
  processing?: string;
  version?: string;
  set?: string;
  accept?: string;
  applicationAnswer?: string;
}

export const msh = ({
  type,
  control = 'M1',
  at = '20260521080000+0000',
  application = 'HIS',
  processing = 'P',
  version = '2.5.1',
  set = 'UNICODE UTF-8',
  accept = '',
  applicationAnswer = '',
}: HeaderParts): string =>
  `MSH|^~\\&|${application}|WARD|SONOGATE|US|${at}||${type}|${control}|${processing}|${version}|||${accept}|${applicationAnswer}||${set}`;

export const pid = (
  over: { id?: string; name?: string; birthDate?: string; sex?: string } = {},
) => {
  const {
    id = 'PAT-1^^^HOSPITAL^MR',
    name = 'Müller^Änne',
    birthDate = '19900405',
    sex = 'F',
  } = over;
  return `PID|1||${id}||${name}||${birthDate}|${sex}`;
};

export const ORDER = [
  'PV1|1|O||||||77^Überweiser^Zoë^^^Dr.',
  'ORC|NW|PL-1^HIS|FI-1^RIS',
  'OBR|1|PL-1^HIS|FI-1^RIS|US1^Growth scan^L||||||||||||88^Roe^Jane||ACC-1|RP-1||||||||||||^Größe für das Alter?',
  'OBX|1|DT|8665-2^LMP^LN||20260101||||||F',
  'OBX|2|NM|29463-7^Weight^LN||71|kg|||||F',
];

export const orm = (over: Partial<HeaderParts> = {}, order = ORDER) =>
  message(msh({ type: 'ORM^O01', ...over }), pid(), ...order);
