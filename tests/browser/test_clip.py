"""Check that Save makes a video in the browser, and that without hidden layers nothing orange is in it."""

import base64

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

LOOK = """async data => {  // width, height, length in seconds, and how many orange pixels each picture has
    const video = document.createElement("video"), canvas = document.createElement("canvas"), orange = [];
    video.muted = true;
    video.src = URL.createObjectURL(await (await fetch("data:video/webm;base64," + data)).blob());
    await new Promise(done => { video.onloadeddata = done; });
    Object.assign(canvas, {width: video.videoWidth, height: video.videoHeight});
    const c = canvas.getContext("2d", {willReadFrequently: true});
    video.playbackRate = 2;
    await video.play();
    while (!video.ended) {
        await new Promise(done => setTimeout(done, 400));
        c.drawImage(video, 0, 0);
        const {data} = c.getImageData(0, 0, canvas.width, canvas.height);
        let found = 0;
        for (let i = 0; i < data.length; i += 4)
            if (data[i] > 140 && data[i] - data[i + 1] > 50 && data[i + 1] - data[i + 2] > 20) found += 1;
        orange.push(found);
    }
    return [canvas.width, canvas.height, video.currentTime, orange];
}"""


@pytest.mark.parametrize("layers", [1, 0])
def test_a_clip_is_a_video_of_the_film_without_secrets_unless_they_are_shown(open_page, layers):
    page = open_page(f"explore?v=1&d=town&a=dp-lloyd&k=5&e=1&s=0&layers={layers}")
    expect(page.locator(".dp-verdict")).to_be_visible()
    page.get_by_role("button", name="Save").click()
    button = page.get_by_role("button", name="Clip", exact=True)
    with page.expect_download(timeout=180_000) as caught:
        button.click()
    expect(button).to_be_visible()  # the next one may be made
    assert caught.value.suggested_filename == "dpviz-dp-lloyd-clip.webm"
    made = open(caught.value.path(), "rb").read()
    width, height, seconds, orange = page.evaluate(LOOK, base64.b64encode(made).decode())
    assert (width, height) == (1280, 720) and 9 < seconds < 40 and len(orange) > 5
    assert (max(orange) > 200) == bool(layers), orange


def test_a_clip_can_be_canceled_and_a_browser_that_cannot_record_says_what_to_do(open_page):
    page = open_page("explore?v=1&d=town&a=dp-lloyd&k=5&e=1&s=0")
    expect(page.locator(".dp-verdict")).to_be_visible()
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Clip", exact=True).click()
    page.get_by_role("button", name="Cancel clip").click()
    expect(page.get_by_role("button", name="Clip", exact=True)).to_be_visible()
    assert page.locator("body > div > canvas").count() == 0  # nothing is left behind
    page.add_init_script("delete window.MediaRecorder")
    page.reload()
    expect(page.locator(".dp-verdict")).to_be_visible()
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Clip", exact=True).click()
    expect(page.get_by_text("This browser cannot record a picture")).to_be_visible()
