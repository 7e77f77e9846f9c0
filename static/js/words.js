// Texts of the scripts in the page's language. They are written in English here; a page in another language has the
// catalogue of all that are translated (annotation/templatetags/languages.py).

export const language = document.documentElement.lang || "en";
const catalogue = JSON.parse(document.getElementById("catalogue")?.textContent ?? "{}");
const rules = new Intl.PluralRules(language);
const order = ["zero", "one", "two", "few", "many", "other"].filter((one) => rules.resolvedOptions().pluralCategories.includes(one));
const numbers = new Intl.NumberFormat(language);

export const formatNumber = (n) => numbers.format(n);

/** `{name}` stands for the value of that name. */
const fill = (text, values) => text.replace(/\{(\w+)\}/g, (whole, name) => {
  const value = values[name] ?? whole;
  return typeof value === "number" ? formatNumber(value) : value;
});

export const gettext = (text, values = {}) => fill(catalogue[text] ?? text, values);

/** A title within a sentence; other languages may keep its capital. */
export const inSentence = (title) => (language === "en" ? title.toLowerCase() : title);

/** The form for `n` of something, which `{n}` stands for. */
export function ngettext(one, many, n, values = {}) {
  const forms = catalogue[one];
  const text = forms ? (forms[order.indexOf(rules.select(n))] ?? forms.at(-1)) : n === 1 ? one : many;
  return fill(text, { n, ...values });
}
