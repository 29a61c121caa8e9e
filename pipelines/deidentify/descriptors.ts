/**
 * Clean Descriptors (PS3.15 E.3.5). Descriptions may have been typed by an operator. Only words in
 * this list are kept, in their original order. The list contains no names, places or remarks.
 */

// cspell:disable
const WORDS = new Set(
  `
  us ultrasound sonography scan exam examination study limited complete detailed follow up followup
  ob obstetric obstetrics obstetrical gyn gynecology gynaecology gynecologic pelvis pelvic
  fetal fetus foetal foetus pregnancy prenatal antenatal anomaly anatomy morphology screening survey
  first second third 1st 2nd 3rd trimester twin twins triplet multiple singleton gestation
  biometry growth doppler biophysical profile nuchal translucency nt dating viability cervix cervical
  length uterus uterine ovary ovarian placenta umbilical cord amniotic fluid labor labour
  heart cardiac echo echocardiogram echocardiography tte tee toe transthoracic transesophageal
  transoesophageal stress exercise dobutamine rest peak recovery adult pediatric paediatric
  transabdominal transvaginal tv ta endovaginal transperineal
  left right ventricle ventricular atrium atrial lv rv la ra lvef ef strain valve mitral aortic
  tricuspid pulmonary pericardial pericardium aorta arch ivc septum apical parasternal subcostal
  suprasternal long short axis plax psax a2c a3c a4c a5c 2ch 3ch 4ch 5ch chamber
  abdomen abdominal liver kidney renal spleen pancreas bladder thyroid neck breast carotid
  vascular venous arterial artery vein duplex upper lower extremity soft tissue
  colour color flow power pulsed continuous wave pw cw m mode tissue imaging 2d 3d 4d
  b bmode grayscale greyscale image images series cine clip loop still report measurements
  and or of with without the for in
  schwangerschaft geburtshilfe fetale echokardiographie herz grossesse foetale coeur embarazo fetale
  ecocardiografia ecocardiograma cuore gravidanza
  `
    .trim()
    .split(/\s+/),
);
// cspell:enable

/** Returns the words of a text, in lower case. */
export const wordsOf = (text: string): string[] =>
  (text.normalize('NFC').match(WORD) ?? []).map((word) => word.toLowerCase());
const WORD = /[\p{L}\p{N}]+/gu;

/**
 * Returns the known words of a description, separated by spaces; empty if it has none.
 *
 * @param names words of the person names in the object. They are removed even if they are in the
 * list, because "Long" and "Still" are also family names.
 */
export function cleanDescriptor(text: string, names: ReadonlySet<string>): string {
  const found = text.normalize('NFC').match(WORD) ?? [];
  return found
    .filter((word) => WORDS.has(word.toLowerCase()) && !names.has(word.toLowerCase()))
    .join(' ');
}
