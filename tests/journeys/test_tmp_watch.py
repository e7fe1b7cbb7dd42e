def test_csp(window):
    window.page.evaluate("(() => { const s = document.createElement('script'); s.textContent = '1'; document.body.append(s); })()")
def test_foreign(window):
    window.page.goto("data:text/html,<img src='http://127.0.0.1:1/x.png'>")
def test_error(window):
    window.page.evaluate("setTimeout(() => { throw new Error('x') }, 0)")
    window.open("/inbox")
def test_refused(window):
    window.open("/chat/c_nothing")
