/* Finds a call by any of its words; without it the page is whole and can be read. */
const find = document.getElementById('find')

function show() {
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean)
  for (const article of document.querySelectorAll('article')) {
    const said = article.textContent.toLowerCase()
    article.hidden = !words.every((word) => said.includes(word))
    const link = document.querySelector(`nav a[href="#${article.id}"]`)
    if (link) link.parentElement.hidden = article.hidden
  }
  for (const section of document.querySelectorAll('section'))
    section.hidden = ![...section.querySelectorAll('article')].some((article) => !article.hidden)
  for (const group of document.querySelectorAll('nav details')) {
    const any = [...group.querySelectorAll('li')].some((item) => !item.hidden)
    group.hidden = !any
    group.open = words.length > 0 && any
  }
}

find.addEventListener('input', show)
