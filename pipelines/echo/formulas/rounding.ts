export { rounded } from '../../measure/rounding.ts';
